"""Takes the network and the file system from the process that reads a document. Linux only; elsewhere it does nothing.

seccomp refuses sockets, programs, and calls that reach other processes. Landlock refuses every file but those named. Both
are one-way, need no privileges, and stay with every thread. `python -m whence.parse.sandbox` prints which of them work here.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_READ_FILE, _READ_FOLDER = 0b0101, 0b1101  # execute and read; also list
_WITH_NETWORK, _WITH_SCOPES = 4, 6  # versions of Landlock
# The audit number of each architecture, and the numbers of: socket, execve, execveat, ptrace, process_vm_readv,
# process_vm_writev, open_by_handle_at, mount, unshare, setns, bpf, add_key, keyctl, kill, rt_sigqueueinfo,
# pidfd_send_signal, io_uring_setup.
_CALLS = {
    "x86_64": (
        0xC000003E,
        (41, 59, 322, 101, 310, 311, 304, 165, 272, 308, 321, 248, 250, 62, 129, 424, 425),
    ),
    "aarch64": (
        0xC00000B7,
        (198, 221, 281, 117, 270, 271, 265, 40, 97, 268, 280, 217, 219, 129, 138, 424, 425),
    ),
}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_OTHER_ABI = 0x40000000  # x32 on x86_64, with other numbers for the same calls
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/urandom", "/proc/self")


def confine(inputs: Path | None = None, *, work: Path | None = None) -> list[str]:
    """Restrict this process for good to its open files, the libraries, `inputs` to read, and `work` to read and write.

    Returns what took effect. Threads that run already are not restricted.
    """
    if sys.platform != "linux":
        return []
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return []
    places = [*_LIBRARIES, *_DEVICES, sys.prefix, sys.base_prefix, *filter(None, sys.path)]
    landlock = _close_files(libc, [*map(Path, places), *([inputs] if inputs else [])], work)
    return [name for name, works in (("seccomp", _close_network(libc)), ("Landlock", landlock)) if works]


def _close_network(libc: ctypes.CDLL) -> bool:
    architecture, calls = _CALLS.get(platform.machine(), (0, ()))
    if not calls:
        return False
    count = len(calls)
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, count + 1, 0, _OTHER_ABI),
        *((_EQUAL, count - at, 0, number) for at, number in enumerate(calls)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER_MODE, program, 0, 0) == 0)


def _close_files(libc: ctypes.CDLL, places: Iterable[Path], work: Path | None) -> bool:
    version = libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    if version < 1:
        return False
    handled = (
        1 << (13, 14, 15, 15, 16)[min(version, 5) - 1]
    ) - 1  # version 1 knows 13 kinds of access to files
    rules = struct.pack("Q", handled)
    rules += struct.pack("Q", 0b11) if version >= _WITH_NETWORK else b""
    rules += struct.pack("Q", 0b11) if version >= _WITH_SCOPES else b""
    ruleset = libc.syscall(_CREATE_RULESET, rules, len(rules), 0)
    if ruleset < 0:
        return False
    try:
        for place in places:
            _allow(libc, ruleset, place, _READ_FOLDER if place.is_dir() else _READ_FILE)
        if work:
            _allow(libc, ruleset, work, handled)
        return bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, place: Path, access: int) -> None:
    try:
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not on this machine
        return
    try:
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    print(*confine())  # noqa: T201 - its answer to `whence doctor`
