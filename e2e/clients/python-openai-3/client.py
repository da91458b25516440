from configuration import configure
from openai_client import OpenAIClient
from steps import play_steps

play_steps(configure, OpenAIClient())
