"""What is frozen, as texts by name: results, refusals, specs, listings, plans, pages, reproductions.

Everything is reached as users reach it: by the command line, by `weir`, and by the few functions of the
compiled module that have no other way. How it is held is told in `frozen`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import documents
import weir
from weir import _weir, cli
from weir.planning import request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Texts = dict[str, str]

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "frozen"
MODELS = ("port", "network", "fabric", "node", "server")
REPRODUCTIONS = ("alpha", "sfq", "dtable", "epoch", "steer")
THREADS = (1, 2, 8)
HEAD = "==== "
ANSWER = "\n=> "
COMMANDS = (
    "demo", "reproduce", "bench", "list", "explain", "schema", "run", "compare", "theory", "show", "report",
    "sweep", "size", "plan", "lint", "overhead", "import", "import tg", "import pcap", "import opensm",
    "import rtapp", "import perf", "live", "live testbed", "live sfq", "live steer", "live clean",
)  # fmt: skip
VALUES = (
    "0", "1", "3", "x", "-1", "1.5", "007", "64B", "100pkt", "5ms", "10Mbit", "none", "0/1", "fifo", "rr:0",
    "alpha:1.0",
)  # fmt: skip
"""What each parameter is given in a scenario; the tests of weir-core give it much more."""
HEADS = {
    "port": '\nworkload = { load = 0.5, lengths = "report" }\n',
    "network": """
network = { hosts = ["a", "b"] }
link = [{ from = "a", to = "b", rate = "1Mbit" }]
flow = [{ from = "a", to = "b", rate = "1kbit", size = "500B" }]
stop = { duration = "1s" }
""",
    "fabric": """
channel = [{ name = "storage", share = 922 }]
traffic = { loads = [0.5], size = { constant = "500B" }, header = "8B", flow_rate = "4Mbit" }
stop = { warm_up = "2500ns", duration = "12500ns", replications = 2 }
fabric = { mtu = "2048B", credit = "64B", link = { rate = "10Gbit", coding = "8b/10b" } }
""",
    "node": """
node = { epoch = "100ms", names = ["node"] }
stop = { warm_up = "100ms", duration = "1s" }
[[process]]
name = "hog"
priority = 1
program = "loop { compute 1ms }"
""",
    "server": """
server = { cores = 4, queue = 9 }
class = [{ name = "short", share = 0.5, service = "10us" }, { name = "long", share = 0.5, service = "20us" }]
workload = { load = 0.5 }
stop = { requests = 20_000, replications = 4 }
""",
}
"""What a scenario with one discipline has beside it."""


def normalised(text: str, name: str) -> str:
    """Return a scenario in normalised form, as TOML."""
    return _weir.Scenario(text, name).normalised


def sections(text: str) -> Texts:
    """Return what stands under each line that begins with `HEAD`."""
    parts = f"\n{text}".split(f"\n{HEAD}")[1:]
    named = (part.partition("\n") for part in parts)
    return {name: body.removesuffix("\n") for name, _, body in named}


def written(texts: Texts) -> str:
    """Return a text of sections."""
    return "\n".join(f"{HEAD}{name}\n{body}\n" for name, body in texts.items())


def digest(text: str) -> str:
    """Return the hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def surroundings(folder: Path) -> Iterator[None]:
    """Make names of files relative to a folder, and let no terminal decide what is printed."""
    before = Path.cwd()
    kept = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR", "TERM")}
    os.chdir(folder)
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in kept.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})


def told(error: weir.errors.WeirError) -> str:
    """Return an error as a JSON object."""
    return json.dumps(error.to_dict(), ensure_ascii=False)


def answer(call: Callable[[], str]) -> str:
    """Return what a call returns, or how it refuses."""
    try:
        return call()
    except weir.errors.WeirError as error:
        return told(error)


# Scenarios, and the disciplines in them.


def scenarios(model: str) -> Texts:
    return sections((FOLDER / "scenarios" / f"{model}.txt").read_text(encoding="utf-8"))


def results(model: str) -> Texts:
    """Results of all scenarios of a model, equal for any number of threads; and closed forms."""
    given = scenarios(model)
    texts: Texts = {}
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda name: outcome(name, given[name]), given)
        for name, outcomes in zip(given, found, strict=True):
            texts.update({f"{name} {what}": text for what, text in outcomes.items()})
    return texts


def outcome(name: str, text: str) -> Texts:
    scenario = weir.Scenario(text, name.partition(" ")[0])
    runs = {
        threads: answer(lambda count=threads: weir.run(scenario, threads=count).text) for threads in THREADS
    }
    found = {"result": runs[1]}
    found |= {f"result of {count} threads": run for count, run in runs.items() if run != runs[1]}
    if scenario.model in ("port", "server"):
        found["theory"] = answer(lambda: weir.theory(scenario).text)
    return found


def checked() -> Texts:
    """The normalised form of every file in examples and reproductions, and of scenarios that run for long."""
    files = sorted(path for where in ("examples", "reproduce") for path in Path(where).glob("*/*.toml"))
    files = [
        path
        for path in files
        if path.parent.name not in ("new-model", "own-crate") and path.name != "Cargo.toml"
    ]
    given = scenarios("checked") | {str(path): path.read_text(encoding="utf-8") for path in files}
    return {name: answer(partial(normalised, text, name.partition(" ")[0])) for name, text in given.items()}


def refused() -> Texts:
    """Refused scenarios, each with its refusal."""
    texts = {}
    for name, held in sections((FOLDER / "refused.txt").read_text(encoding="utf-8")).items():
        text = held.partition(ANSWER)[0]
        read = partial(normalised, text, name.partition(" ")[0])
        texts[name] = text + ANSWER + answer(read)
    return texts


def specs() -> Texts:
    """What a scenario of each model, and a queue, says to each discipline with each parameter changed."""
    registered = json.loads(_weir.disciplines())
    texts = {}
    for model, rest in HEADS.items():
        for info in registered:
            texts[f"{model} {info['kind']} {info['name']}"] = listed(
                info, partial(in_a_scenario, model, rest)
            )
    for info in registered:
        texts[f"queue {info['kind']} {info['name']}"] = listed(info, in_a_queue)
    return texts


def listed(info: dict, ask: Callable[[str], str]) -> str:
    """Return a line for every spec: only the example where that is not taken."""
    example = ask(info["example"])
    lines = [f"{info['example']} => {example}"]
    if not example.startswith("{"):
        keys = [parameter["name"] for parameter in info["parameters"]]
        given = [f"{info['name']}({key}={value})" for key in keys for value in VALUES]
        given += [info["name"], f"{info['name']}(unknown=1)", f"{info['name']}x", f"{info['name']}("]
        lines += [f"{spec} => {ask(spec)}" for spec in given]
    return "\n".join(lines)


def in_a_scenario(model: str, rest: str, spec: str) -> str:
    text = f'weir = 1\nmodel = "{model}"\ndisciplines = ["{spec}"]{rest}'
    return answer(lambda: str(weir.Scenario(text, "s.toml").disciplines))


def in_a_queue(spec: str) -> str:
    return answer(lambda: type(weir.Queue(spec)).__name__)


# What is printed.


def printed(line: str) -> str:
    """Return what a command prints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run(line.split())
    errors = f"(error) {err.getvalue()}" if err.getvalue() else ""
    return "\n".join(each.rstrip() for each in f"{out.getvalue()}{errors}(exit code {code})".splitlines())


def commands(lines: list[str]) -> Texts:
    return {f"weir {line}": printed(line) for line in lines}


def listings() -> Texts:
    """What the registry and the command line say of themselves."""
    names = sorted({each["name"] for each in json.loads(_weir.disciplines())})
    lines = ["--help", "list", "list --json", "explain fofo", *(f"explain {name}" for name in names)]
    lines += [f"{command} --help" for command in COMMANDS]
    return commands(lines) | {"benchmarks": "\n".join(_weir.bench_names(""))}


def schema() -> Texts:
    return {"schema": _weir.schema()}


def plans() -> Texts:
    """Plans of the examples for every target, judgements and imports of options files."""
    table, nodes = "examples/infiniband/request.toml", "examples/nodes/request.toml"
    lines = [f"plan {file}{form}" for file in (table, nodes) for form in ("", " --json", " --check")]
    lines += [f"plan {table} --target {target}" for target in request.TARGETS]
    lines += [f"plan {nodes} --target {target}" for target in request.NODE_TARGETS]
    files = ["examples/infiniband/opensm.conf", *map(str, sorted(Path("data/configs").glob("*.conf")))]
    lines += [
        f"lint {file}{form}" for file in files for form in ("", " --json", " --mtu 4096B --capacity 64")
    ]
    lines += [f"import opensm {file}" for file in files]
    return commands(lines)


def pages() -> Texts:
    """What is shown of three comparisons of every model: on the terminal, as page, table and records."""
    texts: Texts = {}
    for model in MODELS:
        compared = re.compile(r"^disciplines = \[[^\]]*,", re.MULTILINE)
        given = [text for name, text in scenarios(model).items() if name.startswith("s.toml ")]
        given = [text for text in given if compared.search(text) and "data/" not in text]
        for number, text in enumerate(given[:: max(len(given) // 3, 1)][:3], 1):
            with tempfile.TemporaryDirectory() as folder, surroundings(Path(folder)):
                texts.update({f"{model} {number} {name}": each for name, each in shown(text).items()})
    return texts


def shown(text: str) -> Texts:
    Path("s.toml").write_text(text, encoding="utf-8")
    texts = commands(["run s.toml --out r.json --out r.html --out r.csv", "compare s.toml", "theory s.toml"])
    texts |= commands(["run s.toml --records records.csv", "report r.json --out report.html"])
    files = [path for path in sorted(Path().iterdir()) if path.name not in ("s.toml", "r.json")]
    return texts | {path.name: path.read_text(encoding="utf-8") for path in files}


def quoted() -> Texts:
    """What the documents say that their examples print; `test_docs` has it printed."""
    texts: Texts = {}
    for path in documents.RUN:
        for block in documents.blocks(path.read_text(encoding="utf-8")):
            if block.language == "pycon" or (block.language == "console" and "norun" not in block.options):
                name = f"{path.relative_to(ROOT)} {block.body.partition(chr(10))[0]}"
                texts[name] = texts.get(name, "") + block.body
    return texts


def reproduction(name: str) -> Texts:
    """A quick reproduction: what it prints, its JSON, its page, and the hash of the result of every run."""
    module = importlib.import_module(f"weir.reproduce.{name}")
    runs: Texts = {}

    def runner(text: str, file: str, **options: object) -> object:
        result = module.simulate(text, file, **options)
        where = re.sub(rf".*reproduce/{name}/", "", Path(file).as_posix())
        runs[f"{where} {digest(text)[:8]}"] = digest(result.text.replace(str(ROOT), ""))
        return result

    found = module.run(fidelity="quick", threads=2, runner=runner)
    return {"text": found.text(), "json": found.to_json(), "page": found.html()} | dict(sorted(runs.items()))
