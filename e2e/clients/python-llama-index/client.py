from configuration import configure
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel
from steps import PIXEL, play_steps, weather


class Place(BaseModel):
    city: str


def said(content):
    return [ChatMessage(role="user", content=content)]


class Client:
    # It repeats every 429 for a minute, with pauses of its own.
    waits = True

    def ask(self, c, model, text):
        return c["llm"](model).chat(said(text)).message.content

    def stream(self, c, model, text):
        for chunk in c["llm"](model).stream_chat(said(text)):
            yield chunk.delta

    def tools(self, c, model):
        llm = c["llm"](model)
        tool = FunctionTool.from_defaults(weather)
        messages = said("hi")
        response = llm.chat_with_tools([tool], chat_history=messages)
        messages.append(response.message)
        for call in llm.get_tool_calls_from_response(response):
            result = tool(**call.tool_kwargs)
            extra = {"tool_call_id": call.tool_id}
            messages.append(ChatMessage(role="tool", content=str(result), additional_kwargs=extra))
        return llm.chat_with_tools([tool], chat_history=messages).message.content

    def see(self, c, model, text):
        image = ImageBlock(url=f"data:image/png;base64,{PIXEL}")
        return self.ask(c, model, [TextBlock(text=text), image])

    def embed(self, c, model, texts):
        return c["embedding"](model).get_text_embedding_batch(texts)

    async def abort(self, c, model, text):
        await c["llm"](model).achat(said(text))


play_steps(configure, Client())
