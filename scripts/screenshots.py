"""Make the pictures of the documentation from real runs: `terminal.svg`, `notebook.png`, `notebook-dark.png`, `report.png`.

Needs TensorFlow, nbclient, ipykernel and nbconvert, and for the notebook a Chromium or Chrome.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
COLUMNS = 80
WIDTH = 860
HEIGHT = (
    "<script>document.documentElement.dataset.height = document.querySelector('main').scrollHeight</script>"
)
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

CELLS = (
    "import keras\nimport numpy as np\n\n%load_ext fitdoctor",
    "GRADES = 10\nrng = np.random.default_rng(0)\n"
    "chemistry = rng.normal(size=(400, 11)).astype('float32')\n"
    "grades = rng.integers(1, GRADES + 1, size=400)",
    "model = keras.Sequential([\n    keras.Input((11,)),\n    keras.layers.Dense(32, activation='relu'),\n"
    "    keras.layers.Dense(GRADES, activation='softmax'),\n])\n"
    "model.compile('adam', 'sparse_categorical_crossentropy')",
    "model.fit(chemistry, grades, epochs=20)",
)


def terminal() -> str:
    """`fitdoctor demo` in a terminal, as SVG."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    environment = {**os.environ, **QUIET, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-m", "fitdoctor", "demo", "--color", "always"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=True,
    )
    # Seconds differ from run to run, and the picture should not.
    printed = re.sub(r" \(\d+\.\d+ s\)", "", done.stdout)
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(
        Text.from_ansi("$ fitdoctor demo\n" + printed.rstrip("\n").partition("\n")[2]), soft_wrap=True
    )
    # rich asks for a font from the network: the reader's own will do.
    frame = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title="fitdoctor", code_format=frame, unique_id="fitdoctor")


def executed() -> Any:
    """The failing notebook, run by a real kernel."""
    import nbclient
    import nbformat

    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, allow_errors=True).execute()
    return notebook


def page(notebook: Any, theme: str) -> str:
    """The notebook as JupyterLab draws it."""
    from nbconvert import HTMLExporter

    html, _resources = HTMLExporter(theme=theme).from_notebook_node(notebook)
    style = "<style>body.jp-Notebook { padding: 8px 16px 0 0; } main { margin: 0; }</style>"
    # Formulas and diagrams would be loaded from the network.
    html = re.sub(r"<script[^>]*src=[^>]*></script>", "", html)
    return html.replace("</body>", f"{style}{HEIGHT}</body>")


def report() -> str:
    """The report of a repair, as far as the data flow."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "docs/programs/first_repair/train.py", folder)
        subprocess.run(
            [
                sys.executable,
                "-m",
                "fitdoctor",
                "fix",
                "--output-format",
                "html",
                "--output-file",
                "fix.html",
                "train.py",
            ],
            cwd=folder,
            capture_output=True,
            check=True,
        )
        html = (Path(folder) / "fix.html").read_text("utf-8").partition('<h2 id="data">')[0]
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    return f"{html}</main>{HEIGHT}</body></html>"


def picture(browser: str, html: str, target: Path) -> None:
    """Draw a page, cut to its height."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        words = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            f"--user-data-dir={folder}/profile",
        ]
        size = [f"--window-size={WIDTH},3000", "--dump-dom", file.as_uri()]
        drawn = subprocess.run(
            [*words, *size], capture_output=True, text=True, timeout=120, check=True
        ).stdout
        found = re.search(r'data-height="(\d+)"', drawn)
        height = int(found[1]) + 16 if found else 1200
        size = [f"--window-size={WIDTH},{height}", f"--screenshot={target}", file.as_uri()]
        subprocess.run([*words, *size], capture_output=True, timeout=120, check=True)


def main() -> int:
    os.environ.update(QUIET)
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    IMAGES.mkdir(exist_ok=True)
    made = [IMAGES / "terminal.svg"]
    made[0].write_text(terminal(), encoding="utf-8")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(
            f"no browser found ({', '.join(BROWSERS)}): the pictures of the notebook and the report stay as they are"
        )
    else:
        notebook = executed()
        for theme, name in (("light", "notebook.png"), ("dark", "notebook-dark.png")):
            made.append(IMAGES / name)
            picture(browser, page(notebook, theme), made[-1])
        made.append(IMAGES / "report.png")
        picture(browser, report(), made[-1])
    for path in made:
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
