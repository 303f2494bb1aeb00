"""Settings that do not work: one line that names the variable and what it should be, and never a secret."""

from typing import TYPE_CHECKING

import psycopg
import pytest

from whence.providers import recipients
from whence.settings import Settings

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation


@pytest.mark.parametrize("command", [("serve",), ("db", "status"), ("doctor",)])
def test_a_port_that_is_no_number(fresh: "Installation", command: tuple[str, ...]) -> None:
    message = fresh.refused(*command, env={"WHENCE_PORT": "abc"})
    assert message == "WHENCE_PORT must be a whole number from 0 to 65535, not 'abc'."
    assert not fresh.data_dir.exists()


def test_a_database_of_another_kind(fresh: "Installation") -> None:
    message = fresh.refused("serve", env={"WHENCE_DATABASE_URL": "mysql://user:hunter2@host/db"})
    assert message == "WHENCE_DATABASE_URL must be a URL that begins with postgresql://, not '…'."


def test_a_database_that_does_not_answer(hosted: "Installation") -> None:
    url = "postgresql://user:hunter2@127.0.0.1:1/db"
    message = hosted.refused("serve", "--port=0", env={"WHENCE_DATABASE_URL": url})
    assert message.startswith("The database does not answer: ")
    assert "127.0.0.1" in message
    done = hosted.run("doctor", code=1, env={"WHENCE_DATABASE_URL": url})
    assert "✗ Database: The database does not answer" in done.stdout
    assert "hunter2" not in message + done.stdout + done.stderr


def test_a_database_url_that_cannot_be_read(hosted: "Installation") -> None:
    url = "postgresql://user:hunter2@127.0.0.1:1/db?hunter2=1"
    assert "WHENCE_DATABASE_URL is not the URL of a database" in hosted.refused(
        "db", "status", env={"WHENCE_DATABASE_URL": url}
    )
    done = hosted.run("doctor", code=1, env={"WHENCE_DATABASE_URL": url})
    assert "hunter2" not in done.stdout + done.stderr


def test_a_role_that_may_not_make_the_schema(fresh: "Installation", empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("CREATE EXTENSION vector")
        conn.execute("DROP ROLE IF EXISTS only_a_guest")
        conn.execute("CREATE ROLE only_a_guest LOGIN")
        info = conn.info
        url = f"postgresql://only_a_guest@/{info.dbname}?host={info.host}&port={info.port}"
    message = fresh.refused("db", "upgrade", env={"WHENCE_DATABASE_URL": url})
    assert "permission denied" in message


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("WHENCE_DATA_DIR", "~nobody-of-that-name/data", "WHENCE_DATA_DIR must be a path"),
        ("WHENCE_POSTGRES_BIN", "/nowhere", "/nowhere has no program postgres, initdb"),
        ("WHENCE_STORAGE_URL", "gopher://secret@there", "WHENCE_STORAGE_URL is not a storage URL"),
        (
            "WHENCE_LOG_LEVEL",
            "loud",
            "WHENCE_LOG_LEVEL must be one of debug, info, warning, error, not 'loud'.",
        ),
    ],
)
def test_other_settings(embedded: "Installation", name: str, value: str, says: str) -> None:
    message = embedded.refused("projects", "list", env={name: value})
    assert message.startswith(says)
    assert "secret" not in message


def test_a_data_directory_that_is_a_file(fresh: "Installation") -> None:
    fresh.data_dir.write_text("mine")
    assert f"{fresh.data_dir}" in fresh.refused("serve", "--port=0")
    assert fresh.data_dir.read_text() == "mine"


def test_no_home(fresh: "Installation") -> None:
    """The data directory follows XDG_DATA_HOME; an empty WHENCE_DATA_DIR is none."""
    share = str(fresh.folder / "share")
    shown = fresh.json("doctor", env={"WHENCE_DATA_DIR": "", "XDG_DATA_HOME": share})
    assert shown["settings"]["WHENCE_DATA_DIR"] == f"{share}/whence"


def test_an_unknown_setting_is_only_a_warning(hosted: "Installation") -> None:
    given = {"WHENCE_FOO": "bar", "WHENCE_LOG_LEVLE": "debug"}
    serving = hosted.serve(env=given).ready()
    assert "WARNING whence WHENCE_FOO is not a setting; it is ignored\n" in serving.said
    assert "WHENCE_LOG_LEVLE is not a setting; it is ignored. Did you mean WHENCE_LOG_LEVEL?" in serving.said
    said = hosted.run("doctor", env=given).stdout
    assert "· WHENCE_FOO: is not a setting; it is ignored\n" in said
    assert "· WHENCE_LOG_LEVLE: is not a setting; it is ignored. Did you mean WHENCE_LOG_LEVEL?" in said


def test_a_config_file(hosted: "Installation") -> None:
    """The environment wins; the file of the user's folder is read by itself."""
    file = hosted.folder / "mine.toml"
    file.write_text(
        'WHENCE_PORT = 9001\nWHENCE_VERIFY = true\nWHENCE_HOST = "::1"\n'
        'WHENCE_FETCH_ALLOW = ["wiki.corp", "10.1.0.0/16"]\nWHENCE_POOL_SIEZ = 3\n'
    )
    found = hosted.json("--config", str(file), "doctor", env={"WHENCE_PORT": "9002", "WHENCE_HOST": ""})
    settings = found["settings"]
    assert (settings["WHENCE_PORT"], settings["WHENCE_HOST"], settings["WHENCE_VERIFY"]) == (
        "9002",
        "::1",
        "on",
    )
    assert settings["WHENCE_FETCH_ALLOW"] == "wiki.corp, 10.1.0.0/16"
    assert settings["WHENCE_CONFIG"] == str(file)
    assert "Did you mean WHENCE_POOL_SIZE?" in str(found["findings"])
    own = hosted.folder / ".config" / "whence" / "whence.toml"
    own.parent.mkdir(parents=True)
    own.write_text("WHENCE_PORT = 9003\n")
    assert hosted.json("doctor", env={"XDG_CONFIG_HOME": ""})["settings"]["WHENCE_PORT"] == "9003"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("WHENCE_PORT 1", "is not TOML"),
        ("WHENCE_PORT = 'many'", "WHENCE_PORT must be a whole number"),
        ("port = 1", "'port', which is no setting"),
        ("[WHENCE_PORT]\na = 1", "no text, number, true or false"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_config_file_that_cannot_be_used(fresh: "Installation", content: str | None, says: str) -> None:
    file = fresh.folder / "whence.toml"
    if content is not None:
        file.write_text(content)
    assert says in fresh.refused("--config", str(file), "projects", "list")


def test_the_start_says_what_is_sent_where(hosted: "Installation", database: psycopg.Connection) -> None:
    assert recipients(Settings()) == ["No model endpoint is configured: no text leaves this machine"]
    server = '{"lightragUrl": "https://lightrag.example.com"}'
    database.execute(
        "INSERT INTO kb.projects (id, name, config, created_at, updated_at) VALUES (gen_random_uuid(), 'Birds', %s, now(), now())",
        [server],
    )
    llm = {"WHENCE_LLM_BASE_URL": "http://127.0.0.1:1/v1?key=hunter2", "WHENCE_LLM_MODEL": "tiny"}
    rerank = {"WHENCE_RERANK_BASE_URL": "http://127.0.0.1:2", "WHENCE_RERANK_MODEL": "tiny"}
    hosted.embed_by("http://127.0.0.1:3/v1")
    storage = {"WHENCE_STORAGE_URL": f"file://{hosted.folder}/elsewhere"}
    said = hosted.serve(env={**llm, **rerank, **storage, "WHENCE_VERIFY": "on"}).ready().said
    for where, purpose in (
        ("127.0.0.1:1/v1", "extraction; switch off with `whence projects set PROJECT --extraction manual`"),
        ("127.0.0.1:1/v1", "answers; switch off with WHENCE_ANSWERER=extractive"),
        ("127.0.0.1:1/v1", "verification; switch off with WHENCE_VERIFY=off"),
        ("127.0.0.1:2", "reranking; switch off by unsetting WHENCE_RERANK_BASE_URL"),
        ("127.0.0.1:3/v1", "embedding; switch off with WHENCE_EMBEDDER=minilm"),
    ):
        assert f"sent to http://{where} for {purpose}" in said
    assert "Questions to projects with a LightRAG server of their own (1) are sent there" in said
    assert "Original files are stored at WHENCE_STORAGE_URL" in said
    assert "All texts are stored at WHENCE_DATABASE_URL" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".local/share/bash-completion/completions/whence"),
        ("zsh", ".zfunc/_whence"),
        ("fish", ".config/fish/completions/whence.fish"),
    ],
)
def test_completion(fresh: "Installation", shell: str, file: str) -> None:
    """It is installed for the shell in use, and whence completes what the script asks for."""
    assert (
        f"Installed {fresh.folder / file}." in fresh.run("completion", env={"SHELL": f"/bin/{shell}"}).stdout
    )
    script = (fresh.folder / file).read_text()
    assert f"_WHENCE_COMPLETE={shell}_complete" in script
    assert fresh.run("completion", shell, "--print").stdout == script + "\n"
    asked = {"_WHENCE_COMPLETE": "bash_complete", "COMP_WORDS": "whence documents del", "COMP_CWORD": "2"}
    assert fresh.run(env=asked).stdout == "plain,delete\n"


def test_completion_of_an_unknown_shell(fresh: "Installation") -> None:
    assert "bash, zsh, fish" in fresh.run("completion", code=2, env={"SHELL": "/bin/tcsh"}).stderr
