"""Settings that do not work: one line that names the variable and what it should be, and never a secret."""

from typing import TYPE_CHECKING

import psycopg
import pytest

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
    assert "WHENCE_DATABASE_URL is not a URL of a database" in hosted.refused(
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
    serving = hosted.serve(env={"WHENCE_FOO": "bar"}).ready()
    assert "WARNING whence WHENCE_FOO is not a setting of Whence; it is ignored" in serving.said
    assert (
        "· WHENCE_FOO: is not a setting; it is ignored"
        in hosted.run("doctor", env={"WHENCE_FOO": "bar"}).stdout
    )
