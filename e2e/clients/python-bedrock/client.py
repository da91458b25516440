import base64
import json

from configuration import configure
from steps import PIXEL, SCHEMA, TOOL, play_steps, weather


def said(*content):
    return {"role": "user", "content": list(content)}


def text_of(message):
    return next(block["text"] for block in message["content"] if "text" in block)


class Client:
    # Its retries do not wait for what Retry-After says.
    retries = False

    def converse(self, c, model, messages, **options):
        return c["client"].converse(modelId=model, messages=messages, **options)["output"]["message"]

    def ask(self, c, model, text):
        return text_of(self.converse(c, model, [said({"text": text})]))

    def stream(self, c, model, text):
        answer = c["client"].converse_stream(modelId=model, messages=[said({"text": text})])
        for event in answer["stream"]:
            yield event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")

    def tools(self, c, model):
        spec = {**TOOL, "inputSchema": {"json": SCHEMA}}
        options = {"toolConfig": {"tools": [{"toolSpec": spec}]}}
        first = said({"text": "hi"})
        called = self.converse(c, model, [first], **options)
        uses = [block["toolUse"] for block in called["content"] if "toolUse" in block]
        results = [
            {"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": weather(**use["input"])}]}}
            for use in uses
        ]
        return text_of(self.converse(c, model, [first, called, said(*results)], **options))

    def json(self, c, model):
        structure = {"jsonSchema": {"name": "place", "schema": json.dumps(SCHEMA)}}
        config = {"textFormat": {"type": "json_schema", "structure": structure}}
        return json.loads(text_of(self.converse(c, model, [said({"text": "hi"})], outputConfig=config)))

    def reason(self, c, model):
        first = said({"text": "hi"})
        answer = self.converse(c, model, [first])
        return text_of(self.converse(c, model, [first, answer, said({"text": "more"})]))

    def see(self, c, model, text):
        image = {"format": "png", "source": {"bytes": base64.b64decode(PIXEL)}}
        return text_of(self.converse(c, model, [said({"text": text}, {"image": image})]))

    def embed(self, c, model, texts):
        def one(text):
            answer = c["client"].invoke_model(modelId=model, body=json.dumps({"inputText": text}))
            return json.loads(answer["body"].read())["embedding"]

        return [one(text) for text in texts]


play_steps(configure, Client())
