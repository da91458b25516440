from configuration import configure
from langchain_core.tools import tool
from steps import PIXEL, SCHEMA, play_steps, user, weather

import sys

VARIANT = sys.argv[1]
REASONING = {
    "openai": {
        "use_responses_api": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low"},
    },
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000},
    "google": {"include_thoughts": True},
}


def text_of(message):
    return message.text if isinstance(message.text, str) else message.text()


class Client:
    # Google's repeats every 429 five times, with pauses of its own.
    waits = VARIANT == "google"

    def chat(self, c, model, **options):
        return c[VARIANT](model, **options)

    def ask(self, c, model, text):
        return text_of(self.chat(c, model).invoke(user(text)))

    def stream(self, c, model, text):
        for chunk in self.chat(c, model).stream(text):
            yield text_of(chunk)

    def tools(self, c, model):
        run = tool(weather)
        bound = self.chat(c, model).bind_tools([run])
        messages = user("hi")
        called = bound.invoke(messages)
        messages.append(called)
        for call in called.tool_calls:
            messages.append(run.invoke(call))
        return text_of(bound.invoke(messages))

    def json(self, c, model):
        schema = {"title": "place", **SCHEMA}
        return self.chat(c, model).with_structured_output(schema, method="json_schema").invoke("hi")

    def reason(self, c, model):
        chat = self.chat(c, model, **REASONING[VARIANT])
        messages = user("hi")
        messages += [chat.invoke(messages), *user("more")]
        return text_of(chat.invoke(messages))

    def see(self, c, model, text):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        return self.ask(c, model, [{"type": "text", "text": text}, image])

    async def abort(self, c, model, text):
        await self.chat(c, model).ainvoke(text)


class WithEmbeddings(Client):
    def embed(self, c, model, texts):
        return c[f"{VARIANT}_embeddings"](model).embed_documents(texts)


play_steps(configure, Client() if VARIANT == "anthropic" else WithEmbeddings())
