import json

from configuration import configure
from steps import PIXEL, SCHEMA, TOOL, play_steps, user, weather


def text_of(answer):
    return next(part.text for part in answer.message.content if part.type == "text")


class Client:
    # It waits up to a minute before each of its two retries, whatever the answer says.
    waits = True

    def ask(self, c, model, text):
        return text_of(c["client"].chat(model=model, messages=user(text)))

    def stream(self, c, model, text):
        for event in c["client"].chat_stream(model=model, messages=user(text)):
            if event.type == "content-delta":
                yield event.delta.message.content.text
            # The client does not raise: the finish reason tells.
            if event.type == "message-end" and event.delta.finish_reason == "ERROR":
                raise RuntimeError(event.delta.error)

    def tools(self, c, model):
        tools = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
        messages = user("hi")
        called = c["client"].chat(model=model, messages=messages, tools=tools).message
        messages.append(called)
        for call in called.tool_calls:
            content = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return text_of(c["client"].chat(model=model, messages=messages, tools=tools))

    def json(self, c, model):
        response_format = {"type": "json_object", "schema": SCHEMA}
        answer = c["client"].chat(model=model, messages=user("hi"), response_format=response_format)
        return json.loads(text_of(answer))

    def see(self, c, model, text):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        return self.ask(c, model, [{"type": "text", "text": text}, image])

    def embed(self, c, model, texts):
        embed = c["client"].embed
        answer = embed(model=model, texts=texts, input_type="search_document", embedding_types=["float"])
        return answer.embeddings.float_

    async def abort(self, c, model, text):
        await c["async_client"].chat(model=model, messages=user(text))


play_steps(configure, Client())
