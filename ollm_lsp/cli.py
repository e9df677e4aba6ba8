"""The command line: `serve` for editors, the rest for people at a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

# Each command imports what it needs: editors start the server often, and nothing else may cost it time.
# ruff: noqa: PLC0415


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Nobody reads any more; what is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(arguments: list[str]) -> int:
    # `--stdio` is what some editors add of their own accord.
    if [word for word in arguments if word != "--stdio"] in ([], ["serve"]):
        return _serve(None)
    options = _parser().parse_args(arguments)
    return options.run(options)


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    from ollm_lsp import __version__

    parser = ArgumentParser("ollm-lsp", description="A language server that gives every editor an LLM assistant.")
    parser.add_argument("--version", action="version", version=f"ollm-lsp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    serve = commands.add_parser("serve", help="serve an editor on standard input and output (the default)")
    serve.add_argument("--stdio", action="store_true", help="accepted for editors that say so; it is the only way")
    serve.set_defaults(run=_serve)

    chat = commands.add_parser("chat", help="ask about files, here in the terminal")
    chat.add_argument("files", nargs="*", metavar="FILE", help="opened as buffers, so that the model sees them")
    chat.add_argument("-p", "--prompt", help="ask this and leave; without it, ask as often as you like")
    chat.add_argument("--model", metavar="PROVIDER:NAME", help="another model than the settings name")
    chat.add_argument(
        "--resume", nargs="?", const="", metavar="ID", help="go on with a conversation: the newest, or that of the id"
    )
    chat.add_argument("--list", action="store_true", dest="is_list", help="list the conversations and leave")
    chat.set_defaults(run=_chat)

    doctor = commands.add_parser("doctor", help="check settings, providers and the model; every trouble has a remedy")
    doctor.add_argument("--json", action="store_true", dest="as_json", help="for programs")
    doctor.set_defaults(run=_doctor)

    _add_models(commands.add_parser("models", help="list the models of all providers; pull, show or delete one"))

    schema = commands.add_parser("schema", help="print the JSON Schema of the settings file")
    schema.set_defaults(run=_schema)
    return parser


def _add_models(models: ArgumentParser) -> None:
    from argparse import SUPPRESS

    models.set_defaults(run=_list_models, provider=None, as_json=False)
    actions = models.add_subparsers(title="actions", metavar="ACTION")
    for parser in (models, actions.add_parser("list", help="list the models of all providers (the default)")):
        # What was said before `list` must not be replaced by what was not said behind it.
        parser.add_argument("--provider", default=SUPPRESS, help="only of this provider")
        parser.add_argument("--json", action="store_true", default=SUPPRESS, dest="as_json", help="for programs")
    pull = actions.add_parser("pull", help="fetch a model, with a progress bar; Ctrl-C stops it")
    pull.set_defaults(run=_pull_model)
    show = actions.add_parser("show", help="show what is known about a model")
    show.set_defaults(run=_show_model)
    show.add_argument("--json", action="store_true", default=SUPPRESS, dest="as_json", help="for programs")
    delete = actions.add_parser("delete", help="delete a model from its provider")
    delete.set_defaults(run=_delete_model)
    delete.add_argument("-y", "--yes", action="store_true", dest="is_sure", help="do not ask")
    for parser in (pull, show, delete):
        parser.add_argument("model", metavar="PROVIDER:NAME", help="for example ollama:qwen3:4b")


def _serve(_options: Namespace | None) -> int:
    from ollm_lsp.app import serve

    return serve()


def _chat(options: Namespace) -> int:
    import asyncio

    if options.is_list:
        from ollm_lsp.terminal.conversations import list_conversations

        return asyncio.run(list_conversations())
    from ollm_lsp.terminal.chat import chat

    return asyncio.run(chat(options.files, options.prompt, options.model, resume=options.resume))


def _doctor(options: Namespace) -> int:
    import asyncio
    import logging

    from ollm_lsp.app import App
    from ollm_lsp.terminal import doctor

    # What is found is told as a finding, not as a log line as well.
    logging.getLogger("ollm_lsp").addHandler(logging.NullHandler())

    async def run() -> int:
        app = App()
        try:
            return await doctor.show(app.examine(), as_json=options.as_json)
        finally:
            await app.close()

    return asyncio.run(run())


def _list_models(options: Namespace) -> int:
    import asyncio

    from ollm_lsp.terminal.models import list_models

    return asyncio.run(list_models(options.provider, as_json=options.as_json))


def _pull_model(options: Namespace) -> int:
    import asyncio

    from ollm_lsp.terminal.models import pull

    return asyncio.run(pull(options.model))


def _show_model(options: Namespace) -> int:
    import asyncio

    from ollm_lsp.terminal.models import show

    return asyncio.run(show(options.model, as_json=options.as_json))


def _delete_model(options: Namespace) -> int:
    import asyncio

    from ollm_lsp.terminal.models import delete

    return asyncio.run(delete(options.model, is_sure=options.is_sure))


def _schema(_options: Namespace) -> int:
    import json

    from ollm_lsp.settings.schema import schema

    print(json.dumps(schema(), indent=2))
    return 0
