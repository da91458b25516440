import json

from anthropic import beta_tool
from configuration import configure
from steps import PIXEL, SCHEMA, play_steps, user, weather

MAX_TOKENS = 2000


def text_of(message):
    return next(block.text for block in message.content if block.type == "text")


class Client:
    def ask(self, c, model, text):
        return text_of(c["client"].messages.create(model=model, max_tokens=MAX_TOKENS, messages=user(text)))

    def stream(self, c, model, text):
        with c["client"].messages.stream(model=model, max_tokens=MAX_TOKENS, messages=user(text)) as stream:
            yield from stream.text_stream

    def tools(self, c, model):
        runner = c["client"].beta.messages.tool_runner(
            model=model, max_tokens=MAX_TOKENS, messages=user("hi"), tools=[beta_tool(weather)]
        )
        return text_of(runner.until_done())

    def json(self, c, model):
        output_config = {"format": {"type": "json_schema", "schema": SCHEMA}}
        answer = c["client"].messages.create(
            model=model, max_tokens=MAX_TOKENS, messages=user("hi"), output_config=output_config
        )
        return json.loads(text_of(answer))

    def reason(self, c, model):
        def ask(messages):
            thinking = {"type": "enabled", "budget_tokens": 1024}
            create = c["client"].messages.create
            return create(model=model, max_tokens=MAX_TOKENS, messages=messages, thinking=thinking)

        first = ask(user("hi"))
        return text_of(ask([*user("hi"), {"role": "assistant", "content": first.content}, *user("more")]))

    def see(self, c, model, text):
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        return self.ask(c, model, [{"type": "image", "source": source}, {"type": "text", "text": text}])

    async def abort(self, c, model, text):
        create = c["async_client"].messages.create
        await create(model=model, max_tokens=MAX_TOKENS, messages=user(text))


play_steps(configure, Client())
