import base64
import json

from configuration import configure
from google.genai import types
from steps import PIXEL, SCHEMA, play_steps, weather


class Client:
    # Only where it is told to, by retry_options.
    retries = False

    def ask(self, c, model, contents):
        return c["client"].models.generate_content(model=model, contents=contents).text

    def stream(self, c, model, contents):
        for chunk in c["client"].models.generate_content_stream(model=model, contents=contents):
            yield chunk.text

    def tools(self, c, model):
        # It calls the function and sends its result by itself.
        config = types.GenerateContentConfig(tools=[weather])
        return c["client"].models.generate_content(model=model, contents="hi", config=config).text

    def json(self, c, model):
        config = {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
        answer = c["client"].models.generate_content(model=model, contents="hi", config=config)
        return json.loads(answer.text)

    def reason(self, c, model):
        config = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
        chat = c["client"].chats.create(model=model, config=config)
        chat.send_message("hi")
        return chat.send_message("more").text

    def see(self, c, model, text):
        image = types.Part.from_bytes(data=base64.b64decode(PIXEL), mime_type="image/png")
        return self.ask(c, model, [text, image])

    def embed(self, c, model, texts):
        answer = c["client"].models.embed_content(model=model, contents=texts)
        return [each.values for each in answer.embeddings]

    async def abort(self, c, model, text):
        await c["client"].aio.models.generate_content(model=model, contents=text)


play_steps(configure, Client())
