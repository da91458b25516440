import json

from configuration import configure
from steps import PIXEL, SCHEMA, TOOL, play_steps, user, weather


class Client:
    retries = False

    def ask(self, c, model, text):
        return c["client"].chat(model=model, messages=user(text)).message.content

    def stream(self, c, model, text):
        for chunk in c["client"].chat(model=model, messages=user(text), stream=True):
            yield chunk.message.content

    def tools(self, c, model):
        tools = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
        messages = user("hi")
        called = c["client"].chat(model=model, messages=messages, tools=tools).message
        messages.append(called)
        for call in called.tool_calls:
            content = weather(**call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": content})
        return c["client"].chat(model=model, messages=messages, tools=tools).message.content

    def json(self, c, model):
        answer = c["client"].chat(model=model, messages=user("hi"), format=SCHEMA)
        return json.loads(answer.message.content)

    def see(self, c, model, text):
        messages = [{"role": "user", "content": text, "images": [PIXEL]}]
        return c["client"].chat(model=model, messages=messages).message.content

    def embed(self, c, model, texts):
        return c["client"].embed(model=model, input=texts).embeddings

    async def abort(self, c, model, text):
        await c["async_client"].chat(model=model, messages=user(text))


play_steps(configure, Client())
