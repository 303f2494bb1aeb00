"""Who may reach the server: nobody from elsewhere without a key, unless told so."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

ANYWHERE = "--host=0.0.0.0"
PROJECTS = "/api/v1/projects"


def test_other_addresses_need_a_key(hosted: "Installation") -> None:
    message = hosted.refused("serve", ANYWHERE, "--port=0")
    assert "`whence keys create`" in message
    assert "--insecure" in message


def test_several_processes_need_a_key_as_well(hosted: "Installation") -> None:
    assert "`whence keys create`" in hosted.refused("serve", ANYWHERE, "--port=0", "--workers=2")


def test_with_a_key(hosted: "Installation") -> None:
    key = hosted.run("keys", "create", "--scope=read").stdout.strip()
    serving = hosted.serve(ANYWHERE).ready()
    refused = serving.get(PROJECTS)
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "UNAUTHORIZED"
    assert refused.headers["www-authenticate"] == 'Bearer realm="whence"'
    assert serving.get(PROJECTS, Authorization=f"Bearer {key}").status_code == 200
    assert serving.get(PROJECTS, **{"X-API-Key": key}).status_code == 200

    hosted.run("keys", "revoke", key)
    assert serving.get(PROJECTS, Authorization=f"Bearer {key}").status_code == 401
    assert key not in serving.said


def test_a_revoked_key_is_none(hosted: "Installation") -> None:
    key = hosted.run("keys", "create").stdout.strip()
    hosted.run("keys", "revoke", key)
    assert "there is none yet" in hosted.refused("serve", ANYWHERE, "--port=0")


def test_insecure(hosted: "Installation") -> None:
    serving = hosted.serve(ANYWHERE, "--insecure").ready()
    assert serving.get(PROJECTS).status_code == 200
    assert "WARNING" in serving.said
    assert "Anyone who can reach 0.0.0.0 can read and change everything: --insecure" in serving.said


def test_insecure_with_several_processes(hosted: "Installation") -> None:
    serving = hosted.serve(ANYWHERE, "--insecure", "--workers=2").ready()
    assert serving.get(PROJECTS).status_code == 200


def test_auth_off_is_not_enough(hosted: "Installation") -> None:
    message = hosted.refused("serve", ANYWHERE, "--port=0", env={"WHENCE_AUTH": "off"})
    assert "WHENCE_AUTH is off" in message
    assert "--insecure" in message


def test_keys_can_be_required_on_loopback(hosted: "Installation") -> None:
    assert "`whence keys create`" in hosted.refused("serve", "--port=0", env={"WHENCE_AUTH": "required"})
    hosted.run("keys", "create")
    assert hosted.serve(env={"WHENCE_AUTH": "required"}).ready().get(PROJECTS).status_code == 401
