"""`whence doctor`: what is configured, what is reachable, what is missing; exit code 1 when something is wrong."""

import os
import shutil
from typing import TYPE_CHECKING, Any

from tests.chat_endpoint import ChatEndpoint
from tests.endpoint import Endpoint, of_size, status

from whence.settings import describe

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor


def findings(report: Any) -> dict[str, str]:
    return {finding["what"]: finding["state"] for finding in report["findings"]}


def test_before_the_first_start(fresh: "Installation") -> None:
    report = fresh.json("doctor")
    assert set(report["settings"]) == {info.name for info in describe()}
    assert report["settings"]["WHENCE_PORT"] == "8420"
    found = findings(report)
    assert found.pop("Parser") in ("ok", "note")  # by what the kernel allows
    assert found == {
        "Python": "ok",
        "Data directory": "ok",
        "Embedder": "ok",
        "Chat model": "note",
        "PostgreSQL binaries": "ok",
        "Database": "note",
    }
    assert not fresh.data_dir.exists()


def test_running(embedded: "Installation") -> None:
    assert findings(embedded.json("doctor"))["Worker"] == "note"
    embedded.serve().ready()
    said = embedded.run("doctor").stdout
    assert "✓ Database: PostgreSQL 1" in said
    assert "schema current" in said
    assert "✓ API keys: 0 active; not needed on this address" in said
    assert "✓ Worker: alive" in said


def test_background_work_that_keeps_failing(hosted: "Installation", wait_for: "WaitFor") -> None:
    folder = hosted.data_dir / "incoming" / "folder"  # where only files are removed
    folder.mkdir(parents=True)
    os.utime(folder, (0, 0))
    serving = hosted.serve().ready()
    wait_for(lambda: serving.get("/readyz").json()["status"] == "degraded", "a second failure")
    port = serving.url.rpartition(":")[2]
    said = hosted.run("doctor", code=1, env={"WHENCE_PORT": port}).stdout
    assert "✗ Background work: tidying at the start failed" in said
    assert "Traceback" in serving.said, "an unexpected error is logged with its stack"


def test_a_broken_cluster(embedded: "Installation") -> None:
    (embedded.data_dir / "postgres" / "PG_VERSION").write_text("12\n")
    said = embedded.run("doctor", code=1).stdout
    assert "✗ Database: " in said
    assert "was made by PostgreSQL 12" in said


def test_no_binaries(fresh: "Installation") -> None:
    said = fresh.run("doctor", code=1, env={"WHENCE_POSTGRES_BIN": "/nowhere"}).stdout
    assert "✗ PostgreSQL binaries: /nowhere has no program" in said


def test_keys_are_missing(hosted: "Installation") -> None:
    done = hosted.run("doctor", code=1, env={"WHENCE_HOST": "0.0.0.0"})  # noqa: S104 - the point
    assert "✗ API keys: 0 active; required" in done.stdout
    hosted.run("keys", "create")
    hosted.run("doctor", env={"WHENCE_HOST": "0.0.0.0"})  # noqa: S104 - the point


def test_secrets_are_not_shown(hosted: "Installation") -> None:
    env = {
        "WHENCE_DATABASE_URL": hosted.env["WHENCE_DATABASE_URL"] + "&password=hunter2",
        "WHENCE_STORAGE_URL": "s3://key:hunter2@bucket/folder?token=hunter2",
    }
    for options in ((), ("--json",)):
        done = hosted.run("doctor", *options, env=env, code=1)  # nobody answers there
        assert "hunter2" not in done.stdout + done.stderr
        assert "(set, not shown)" in done.stdout


def test_the_local_model(fresh: "Installation") -> None:
    said = fresh.run("doctor").stdout
    assert (
        "✓ Embedder: all-MiniLM-L6-v2-int8, 384 dimensions, on this machine; the weights are there and whole"
        in said
    )
    said = fresh.run("doctor", env={"WHENCE_EMBEDDING_MODEL": "text-embedding-3-small"}).stdout
    assert "· WHENCE_EMBEDDING_MODEL: is set, and minilm does not use it" in said
    said = fresh.run("doctor", env={"WHENCE_EMBEDDER": "hash"}).stdout
    assert "· Embedder: hash, 256 dimensions: for tests only" in said


def test_an_embedding_endpoint(fresh: "Installation") -> None:
    env = {"WHENCE_EMBEDDER": "openai", "WHENCE_EMBEDDING_API_KEY": "hunter2", "WHENCE_EMBEDDING_MODEL": "m"}
    said = fresh.run("doctor", env=env, code=1).stdout
    assert "✗ Embedder: openai: WHENCE_EMBEDDING_DIMENSIONS must be set for WHENCE_EMBEDDER=openai" in said
    with Endpoint() as endpoint:
        env |= {"WHENCE_EMBEDDING_BASE_URL": endpoint.url, "WHENCE_EMBEDDING_DIMENSIONS": "64"}
        assert (
            f"✓ Embedder: m at {endpoint.url} answers with 64 dimensions"
            in fresh.run("doctor", env=env).stdout
        )
        endpoint.default = of_size(32)
        said = fresh.run("doctor", env=env, code=1).stdout
        assert "gave a vector of 32 dimensions, and WHENCE_EMBEDDING_DIMENSIONS is 64" in said
        endpoint.default = status(401, message="wrong key: hunter2")
        done = fresh.run("doctor", env=env, code=1)
        assert "✗ Embedder: openai: The key for the embedding endpoint was refused (401)" in done.stdout
        assert "hunter2" not in done.stdout + done.stderr
    assert (
        "✗ Embedder: openai: The embedding endpoint cannot be reached"
        in fresh.run("doctor", env=env, code=1).stdout
    )


def test_no_chat_model(fresh: "Installation") -> None:
    said = fresh.run("doctor").stdout
    assert "· Chat model: none, so answers are quoted from the documents; see WHENCE_LLM_BASE_URL\n" in said
    said = fresh.run("doctor", env={"WHENCE_LLM_API_KEY": "hunter2"}).stdout
    assert "see WHENCE_LLM_BASE_URL; WHENCE_LLM_API_KEY is set and not used" in said
    said = fresh.run("doctor", env={"WHENCE_LLM_MODEL": "m"}, code=1).stdout
    assert "✗ Chat model: WHENCE_LLM_BASE_URL must be set for WHENCE_LLM_MODEL" in said


def test_a_chat_endpoint(fresh: "Installation") -> None:
    env = {"WHENCE_LLM_MODEL": "m", "WHENCE_LLM_API_KEY": "hunter2"}
    with ChatEndpoint() as endpoint:
        env["WHENCE_LLM_BASE_URL"] = endpoint.url
        assert f"✓ Chat model: m at {endpoint.url} answers" in fresh.run("doctor", env=env).stdout
        endpoint.default = status(401, message="wrong key: hunter2")
        done = fresh.run("doctor", env=env, code=1)
        assert "✗ Chat model: The key for the chat endpoint was refused (401)" in done.stdout
        assert "hunter2" not in done.stdout + done.stderr
    said = fresh.run("doctor", env=env, code=1).stdout
    assert "✗ Chat model: The chat endpoint cannot be reached" in said


def test_a_storage_that_answers(hosted: "Installation") -> None:
    env = {"WHENCE_STORAGE_URL": hosted.folder.as_uri()}
    assert "✓ Storage: answers" in hosted.run("doctor", env=env).stdout


def test_a_backup_from_a_storage_that_does_not_answer(hosted: "Installation") -> None:
    env = {"WHENCE_STORAGE_URL": "s3://key:hunter2@bucket/folder"}
    done = hosted.run("backup", str(hosted.folder / "b.tar"), env=env, code=1)
    assert "hunter2" not in done.stderr


def test_a_file_in_the_place_of_the_data_directory(fresh: "Installation") -> None:
    fresh.data_dir.write_text("mine")
    done = fresh.run("doctor", code=1)
    assert f"✗ Data directory: {fresh.data_dir} is not a directory" in done.stdout


def test_nothing_is_changed_by_looking(embedded: "Installation") -> None:
    shutil.rmtree(embedded.data_dir / "originals", ignore_errors=True)
    embedded.run("doctor")
    assert not (embedded.data_dir / "originals").exists()


def test_the_answerer(fresh: "Installation") -> None:
    assert "✓ Answerer: extractive" in fresh.run("doctor", env={"WHENCE_ANSWERER": "extractive"}).stdout
    said = fresh.run("doctor", code=1, env={"WHENCE_ANSWERER": "haiku"}).stdout
    assert "✗ Answerer: WHENCE_ANSWERER is 'haiku'; expected one of extractive" in said
