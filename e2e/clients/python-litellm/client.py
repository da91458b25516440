import json

import litellm
from configuration import configure
from steps import PIXEL, SCHEMA, TOOL, play_steps, user, weather


class Client:
    retries = True

    def complete(self, c, model, messages, **options):
        options = {"num_retries": 2, **options}
        return litellm.completion(model=f"openai/{model}", messages=messages, **c["gateway"], **options)

    def ask(self, c, model, text):
        return self.complete(c, model, user(text)).choices[0].message.content

    def stream(self, c, model, text):
        for chunk in self.complete(c, model, user(text), stream=True):
            yield chunk.choices[0].delta.content

    def tools(self, c, model):
        tools = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
        messages = user("hi")
        called = self.complete(c, model, messages, tools=tools).choices[0].message
        messages.append(called)
        for call in called.tool_calls:
            content = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return self.complete(c, model, messages, tools=tools).choices[0].message.content

    def json(self, c, model):
        response_format = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": SCHEMA}}
        answer = self.complete(c, model, user("hi"), response_format=response_format)
        return json.loads(answer.choices[0].message.content)

    def see(self, c, model, text):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        return self.ask(c, model, [{"type": "text", "text": text}, image])

    def draw(self, c, model):
        answer = litellm.image_generation(model=f"openai/{model}", prompt="a fox", **c["gateway"])
        return answer.data[0].b64_json

    def embed(self, c, model, texts):
        answer = litellm.embedding(model=f"openai/{model}", input=texts, encoding_format="float", **c["gateway"])
        return [each["embedding"] for each in answer.data]

    async def abort(self, c, model, text):
        await litellm.acompletion(model=f"openai/{model}", messages=user(text), **c["gateway"])


play_steps(configure, Client())
