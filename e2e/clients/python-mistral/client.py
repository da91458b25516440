import json

from configuration import configure
from steps import PIXEL, SCHEMA, TOOL, play_steps, user, weather


class Client:
    # Only where it is told to, by retry_config.
    retries = False

    def ask(self, c, model, text):
        return c["client"].chat.complete(model=model, messages=user(text)).choices[0].message.content

    def stream(self, c, model, text):
        for event in c["client"].chat.stream(model=model, messages=user(text)):
            if event.data.choices:
                yield event.data.choices[0].delta.content

    def tools(self, c, model):
        tools = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
        messages = user("hi")
        complete = c["client"].chat.complete
        called = complete(model=model, messages=messages, tools=tools).choices[0].message
        messages.append(called)
        for call in called.tool_calls:
            arguments = call.function.arguments
            content = weather(**(json.loads(arguments) if isinstance(arguments, str) else arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "name": "weather", "content": content})
        return complete(model=model, messages=messages, tools=tools).choices[0].message.content

    def json(self, c, model):
        response_format = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": SCHEMA}}
        complete = c["client"].chat.complete
        answer = complete(model=model, messages=user("hi"), response_format=response_format)
        return json.loads(answer.choices[0].message.content)

    def see(self, c, model, text):
        image = {"type": "image_url", "image_url": f"data:image/png;base64,{PIXEL}"}
        return self.ask(c, model, [{"type": "text", "text": text}, image])

    def embed(self, c, model, texts):
        return [each.embedding for each in c["client"].embeddings.create(model=model, inputs=texts).data]

    async def abort(self, c, model, text):
        await c["client"].chat.complete_async(model=model, messages=user(text))


play_steps(configure, Client())
