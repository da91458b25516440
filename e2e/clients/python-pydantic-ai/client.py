import base64
import sys

from configuration import configure
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput
from steps import PIXEL, play_steps, weather

VARIANT = sys.argv[1]
SETTINGS = {
    "anthropic": {"anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000},
    "google": {"google_thinking_config": {"include_thoughts": True}},
}


class Place(BaseModel):
    city: str


class Client:
    retries = VARIANT != "google"

    def agent(self, c, model, **options):
        return Agent(c[VARIANT](model), **options)

    def ask(self, c, model, text):
        return self.agent(c, model).run_sync(text).output

    def stream(self, c, model, text):
        with self.agent(c, model).run_stream_sync(text) as result:
            yield from result.stream_text(delta=True, debounce_by=None)

    def tools(self, c, model):
        return self.agent(c, model, tools=[weather]).run_sync("hi").output

    def json(self, c, model):
        if VARIANT == "anthropic":
            # It asks by a tool: only models that it knows by name have another way.
            return self.agent(c, "sandbox/tools", output_type=Place).run_sync("hi").output.model_dump()
        return self.agent(c, model, output_type=NativeOutput(Place)).run_sync("hi").output.model_dump()

    def reason(self, c, model):
        # OpenAI's formats: it returns reasoning of models that it knows alone; the ids of calls carry it.
        if VARIANT in ("openai", "responses"):
            return self.tools(c, model)
        agent = self.agent(c, model, model_settings=SETTINGS[VARIANT])
        first = agent.run_sync("hi")
        return agent.run_sync("more", message_history=first.all_messages()).output

    def see(self, c, model, text):
        image = BinaryContent(data=base64.b64decode(PIXEL), media_type="image/png")
        return self.ask(c, model, [text, image])

    async def abort(self, c, model, text):
        await self.agent(c, model).run(text)


play_steps(configure, Client())
