"""The steps of steps.mjs for clients in Python: the same names, order and results, a line of JSON each."""

import asyncio
import concurrent.futures
import json
import os
import sys

TEXT = "The quick brown fox jumps over the lazy dog."
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"name": "weather", "description": "The weather of a city."}
STEP_SECONDS = 40
# Above the pauses of clients that retry three times; below what an exhausted quota would have them wait.
REFUSAL_SECONDS = 20
ABORT_AFTER_SECONDS = 0.3


def weather(city: str) -> str:
    """The weather of a city."""
    assert isinstance(city, str)
    return "21 degrees"


def user(content):
    return [{"role": "user", "content": content}]


def find_status(error, depth=0):
    """The HTTP status of a client's error: each has it in another place."""
    if error is None or depth > 4:
        return None
    for name in ("status_code", "status", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    inner = [response, getattr(error, "__cause__", None), getattr(error, "__context__", None)]
    found = (find_status(each, depth + 1) for each in inner)
    return next((status for status in found if status is not None), None)


def play_steps(configure, client):
    """Plays all steps. `client` has the methods of playSteps in steps.mjs; one that is missing is a step without it."""
    key = os.environ["RIDEAU_KEY"]
    retries = getattr(client, "retries", True)

    def own():
        return configure(key)

    def ask(with_key):
        return client.ask(configure(with_key), "sandbox/echo", TEXT)

    def refuse(with_key, status):
        try:
            answer = within(REFUSAL_SECONDS, lambda: ask(with_key))
        except AssertionError:
            raise
        except Exception as error:  # noqa: BLE001
            assert find_status(error) == status, f"{type(error).__name__}: {error}"
            return
        raise AssertionError(f"answered {answer!r}")

    def stream():
        pieces = [piece for piece in client.stream(own(), "sandbox/echo", TEXT) if piece]
        assert "".join(pieces) == TEXT, pieces
        assert len(pieces) > 1, "one piece only"

    def cut():
        seen = []
        try:
            for piece in client.stream(own(), "sandbox/interrupted", TEXT):
                seen.append(piece)
        except Exception:  # noqa: BLE001
            assert any(seen), "no text came before the error"
            return
        raise AssertionError("the stream ended without an error")

    def rate():
        limited = os.environ["RIDEAU_KEY_WITH_RATE"]
        equal(ask(limited), TEXT)
        if retries:
            equal(ask(limited), TEXT)
        else:
            equal(until_refused(lambda: ask(limited)), 429)

    def abort():
        async def cancel():
            task = asyncio.ensure_future(client.abort(own(), "sandbox/slow", TEXT))
            await asyncio.sleep(ABORT_AFTER_SECONDS)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return
            raise AssertionError("not aborted")

        asyncio.run(cancel())

    steps = {
        "plain": ("ask", lambda: equal(ask(key), TEXT)),
        "stream": ("stream", stream),
        "tools": ("tools", lambda: contains(client.tools(own(), "sandbox/tools"), "21 degrees")),
        "structured": ("json", lambda: equal(client.json(own(), "sandbox/json"), {"city": "text"})),
        "reasoning": (
            "reason",
            lambda: contains(client.reason(own(), "sandbox/reasoning"), "Signed reasoning came back from 1 "),
        ),
        "image input": ("see", lambda: equal(client.see(own(), "sandbox/echo", TEXT), TEXT)),
        "image output": ("draw", lambda: contains(client.draw(own(), "sandbox/image"), "iVBOR")),
        "embeddings": (
            "embed",
            lambda: equal(
                [len(vector) for vector in client.embed(own(), "sandbox/embed", [TEXT, "another"])], [64, 64]
            ),
        ),
        "wrong key": ("ask", lambda: refuse("rd_sk_dev_wrong", 401)),
        "no budget": ("ask", lambda: refuse(os.environ["RIDEAU_KEY_WITHOUT_BUDGET"], 402)),
        "no quota": ("ask", lambda: refuse(os.environ["RIDEAU_KEY_WITHOUT_QUOTA"], 429)),
        "rate limit": ("ask", rate),
        "cut stream": ("stream", cut),
        "abort": ("abort", abort),
    }
    for step, (part, play) in steps.items():
        if not hasattr(client, part):
            show({"step": step, "result": "absent"})
            continue
        if step == "no quota" and getattr(client, "waits", False):
            show({"step": step, "result": "waits"})
            continue
        try:
            within(STEP_SECONDS, play)
            show({"step": step, "result": "passed"})
        except Exception as error:  # noqa: BLE001
            note = f"{type(error).__name__}: {error}"[:500].replace(os.environ["RIDEAU_URL"], "{gateway}")
            show({"step": step, "result": "failed", "note": note})
    sys.stdout.flush()
    # A client that hangs has a thread of its own.
    os._exit(0)


def until_refused(call):
    """The status of the first of twenty calls that is refused: on a busy machine a window may end before the second."""
    for _ in range(20):
        try:
            call()
        except Exception as error:  # noqa: BLE001
            return find_status(error)
    return None


def show(line):
    print(json.dumps(line, separators=(",", ":")), flush=True)


def within(seconds, play):
    pool = concurrent.futures.ThreadPoolExecutor(1)
    try:
        return pool.submit(play).result(timeout=seconds)
    except concurrent.futures.TimeoutError:
        raise AssertionError(f"no end after {seconds} s") from None
    finally:
        pool.shutdown(wait=False)


def equal(value, expected):
    assert value == expected, f"{value!r} instead of {expected!r}"


def contains(text, part):
    assert part in text, f"{text[:300]!r} does not contain {part!r}"


