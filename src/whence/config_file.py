"""The config file: settings in TOML, by the names of their variables. The environment wins."""

import os
import tomllib
from pathlib import Path

from whence.errors import SettingsError
from whence.settings import PREFIX, env_name, path_of

CONFIG_FILE = "whence.toml"


def use_config(given: str | None = None) -> None:
    """Adds the settings of the config file to the environment, which wins.

    The file is `given`, else that of `WHENCE_CONFIG`, else `whence.toml` in the user's folder of configurations. A file in
    the current folder is not read by itself: a foreign folder could send documents to any endpoint.
    """
    named = given or os.environ.get(env_name("config"))
    try:
        path = path_of(named) if named else _default_config()
    except ValueError as exc:
        raise SettingsError.of(env_name("config"), provided=named, expected=str(exc)) from exc
    if path is None or not (named or path.is_file()):
        return
    os.environ[env_name("config")] = str(path)
    for name, value in _read_config(path).items():
        if not os.environ.get(name):
            os.environ[name] = value


def unused_config() -> Path | None:
    """The `whence.toml` in the current folder, if another file or none is in use."""
    here = Path(CONFIG_FILE).absolute()
    return here if here.is_file() and os.environ.get(env_name("config")) != str(here) else None


def _default_config() -> Path | None:
    base = os.environ.get("XDG_CONFIG_HOME")
    try:
        return (Path(base) if base else Path.home() / ".config") / "whence" / CONFIG_FILE
    except RuntimeError:  # no home directory
        return None


def _read_config(path: Path) -> dict[str, str]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise SettingsError(f"The config file {path} cannot be read: {exc.strerror}.") from exc
    except ValueError as exc:  # not UTF-8, or not TOML
        raise SettingsError(f"The config file {path} is not TOML: {exc}.") from exc
    return {name: _config_text(path, name, value) for name, value in found.items()}


def _config_text(path: Path, name: str, value: object) -> str:
    """The value as a variable of the environment would have it."""
    if not name.startswith(PREFIX):
        raise SettingsError(
            f"The config file {path} has {name!r}, which is no setting: settings have the names of their variables, "
            f"such as {env_name('port')}."
        )
    match value:
        case bool():
            return "on" if value else "off"
        case str() | int() | float():
            return str(value)
        case list() if all(isinstance(entry, str) for entry in value):
            return ", ".join(value)
    raise SettingsError(
        f"The config file {path} has a value of {name} that is no text, number, true or false."
    )
