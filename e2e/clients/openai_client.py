"""The official client of OpenAI, in the versions whose folders name this file."""

import json

from steps import PIXEL, SCHEMA, TOOL, user, weather


class OpenAIClient:
    def ask(self, c, model, text):
        answer = c["client"].chat.completions.create(model=model, messages=user(text))
        return answer.choices[0].message.content

    def stream(self, c, model, text):
        for chunk in c["client"].chat.completions.create(model=model, messages=user(text), stream=True):
            if chunk.choices:
                yield chunk.choices[0].delta.content

    def tools(self, c, model):
        tools = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
        messages = user("hi")
        create = c["client"].chat.completions.create
        called = create(model=model, messages=messages, tools=tools).choices[0].message
        messages.append(called)
        for call in called.tool_calls:
            content = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return create(model=model, messages=messages, tools=tools).choices[0].message.content

    def json(self, c, model):
        response_format = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": SCHEMA}}
        create = c["client"].chat.completions.create
        answer = create(model=model, messages=user("hi"), response_format=response_format)
        return json.loads(answer.choices[0].message.content)

    def reason(self, c, model):
        def ask(messages):
            return c["client"].responses.create(
                model=model,
                input=messages,
                store=False,
                include=["reasoning.encrypted_content"],
                reasoning={"effort": "low"},
            )

        first = ask(user("hi"))
        return ask([*user("hi"), *first.output, *user("more")]).output_text

    def see(self, c, model, text):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        return self.ask(c, model, [{"type": "text", "text": text}, image])

    def draw(self, c, model):
        return c["client"].images.generate(model=model, prompt="a fox").data[0].b64_json

    def embed(self, c, model, texts):
        return [each.embedding for each in c["client"].embeddings.create(model=model, input=texts).data]

    async def abort(self, c, model, text):
        await c["async_client"].chat.completions.create(model=model, messages=user(text))


