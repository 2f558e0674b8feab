"""Sends requests of the host through the vendors' own clients and tells what those make of the replies.

Standard input: {"base_url", "exchanges": [{"mode", "body"}]}. Each body is first read as the vendor's
type of a request, then sent. Standard output: for each exchange {"reasoning", "text", "calls"}.
"""

import json
import sys

import anthropic
import openai
from anthropic.types import message_create_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from pydantic import TypeAdapter

# Without a timeout of one's own, a client refuses whole replies that could take long.
PATIENCE = {"api_key": "none", "timeout": 30, "max_retries": 0}


def call(id, name, arguments):
    return {"id": id, "name": name, "arguments": json.loads(arguments)}


def chat_completions(url, body):
    TypeAdapter(completion_create_params.CompletionCreateParams).validate_python(body)
    completions = openai.OpenAI(base_url=url, **PATIENCE).chat.completions
    if not body.get("stream"):
        message = completions.create(**body).choices[0].message
    else:
        body = {name: value for name, value in body.items() if name != "stream"}
        with completions.stream(**body) as stream:
            message = stream.get_final_completion().choices[0].message
    calls = [call(it.id, it.function.name, it.function.arguments) for it in message.tool_calls or []]
    # The field is not the vendor's own, so its client only keeps it.
    reasoning = getattr(message, "reasoning_content", "")
    return {"reasoning": reasoning, "text": message.content or "", "calls": calls}


def anthropic_messages(url, body):
    TypeAdapter(message_create_params.MessageCreateParams).validate_python(body)
    messages = anthropic.Anthropic(base_url=url.removesuffix("/v1"), **PATIENCE).messages
    if not body.get("stream"):
        message = messages.create(**body)
    else:
        body = {name: value for name, value in body.items() if name != "stream"}
        with messages.stream(**body) as stream:
            message = stream.get_final_message()
    said = {"reasoning": "", "text": "", "calls": []}
    for block in message.content:
        if block.type == "thinking":
            said["reasoning"] += block.thinking
        elif block.type == "text":
            said["text"] += block.text
        else:
            said["calls"].append({"id": block.id, "name": block.name, "arguments": block.input})
    return said


def responses(url, body):
    TypeAdapter(response_create_params.ResponseCreateParams).validate_python(body)
    api = openai.OpenAI(base_url=url, **PATIENCE).responses
    if not body.get("stream"):
        response = api.create(**body)
    else:
        body = {name: value for name, value in body.items() if name != "stream"}
        with api.stream(**body) as stream:
            response = stream.get_final_response()
    said = {"reasoning": "", "text": response.output_text, "calls": []}
    for item in response.output:
        if item.type == "reasoning":
            said["reasoning"] += "".join(part.text for part in item.summary)
        elif item.type == "function_call":
            said["calls"].append(call(item.call_id, item.name, item.arguments))
    return said


def main():
    task = json.load(sys.stdin)
    speak = {it.__name__: it for it in (chat_completions, anthropic_messages, responses)}
    said = [speak[it["mode"]](task["base_url"], it["body"]) for it in task["exchanges"]]
    json.dump(said, sys.stdout)


main()
