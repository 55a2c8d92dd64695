"""Which system calls does a submission not get, and how does the kernel know?

A seccomp filter, in force for a process and all that come from it. It takes away what
no model needs and a break-out would: sockets of any kind, other processes, new
namespaces, memory that no limit counts. A refused call gives an ordinary error
(`PermissionError`). Standard library only: this runs in the child before the submission
does.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Iterable
from typing import Final

# A program for the kernel: loads a word, compares it, answers.
_LOAD, _AND, _EQUALS, _AT_LEAST, _HAS_BITS, _ANSWER = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000 | errno.EPERM
_NO_SUCH_CALL: Final = 0x00050000 | errno.ENOSYS
# Where the kernel puts the call's number, the architecture, and the low half of an argument.
_NUMBER, _ARCHITECTURE = 0, 4
_ARGUMENTS: Final = 16

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2

#: Architectures, as audit knows them, and the column of each in the tables.
_MACHINES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

#: The first number, on every architecture, that is newer than these tables.
_NEWER: Final = 470

_Table = dict[str, tuple[int | None, int | None]]

#: Refused in every sandbox; numbers for x86_64 and aarch64.
_REFUSED: Final[_Table] = {
    # Any socket but a pair, and so any network.
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Namespaces and mounts, in which other things are allowed.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    # Memory that outlives its process or that no limit counts.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large and seldom used parts of the kernel; io_uring would also get round this filter.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "lookup_dcookie": (212, 18),
    "vhangup": (153, 58),
}

#: Refused where there are no namespaces, since files and processes are then the user's own.
_REFUSED_WITHOUT_NAMESPACES: Final[_Table] = {
    # Landlock guards what is in files, not their modes, owners and dates.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "truncate": (76, 45),
    # All stay in one process group, which can be killed in one stroke.
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # Queued signals, and the standing of other processes.
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}

#: Refused for other processes than the caller.
_OWN_ONLY: Final[_Table] = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
_SIGNALS: Final[_Table] = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}

# Calls of which it depends on the arguments.
_CLONE, _CLONE3 = (56, 220), (435, 435)
_SOCKETPAIR: Final = (53, 199)
_PRCTL: Final = (157, 167)
_FCNTL, _IOCTL = (72, 25), (16, 29)
_OPEN, _OPENAT, _OPENAT2 = (2, None), (257, 56), (437, 437)

_NEW_NAMESPACES: Final = 0x7E020000
_SOCKET_KIND: Final = 0xF
_STREAM: Final = 1
#: To hide from the guard's count, and to outlive its parent.
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
#: To have the kernel send signals to another: F_SETOWN, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP.
_SET_OWNER: Final = (8, 15)
#: The last two of those, and to mark a file: FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR.
_CONTROLS: Final = (0x8901, 0x8902, 0x40086602, 0x401C5820)
#: Access mode and truncation in the flags of `open`; both in one mask.
_TRUNCATE: Final = 0o1000
_MODE_AND_TRUNCATE: Final = _TRUNCATE | 0o3


def is_known(machine: str) -> bool:
    """Whether the system calls of a kind of machine are known."""
    return machine in _MACHINES


def refuse_system_calls(*, namespaces: bool, signals_stay_inside: bool, own_pid: int) -> None:
    """Takes the calls from this process and from all that come from it; never to be undone.

    Args:
        namespaces: whether files and processes of others are out of sight already.
        signals_stay_inside: whether the kernel holds back signals to others already.
        own_pid: this process, leader of its process group.

    Raises:
        OSError: if the kernel refuses.
    """
    code = _filter(
        platform.machine(),
        namespaces=namespaces,
        signals_stay_inside=signals_stay_inside,
        own_pid=own_pid,
    )
    instructions = ctypes.create_string_buffer(b"".join(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    program = Program(len(code), ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0),
        (_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refuses to filter system calls")


def _filter(
    machine: str, *, namespaces: bool, signals_stay_inside: bool, own_pid: int
) -> list[bytes]:
    architecture, column = _MACHINES[machine]
    myself = (0, own_pid, -own_pid)
    code = [
        _load(_ARCHITECTURE),
        _jump(_EQUALS, architecture, 1, 0),
        _answer(_KILL),
        _load(_NUMBER),
        # The 32-bit calls of x86_64 are numbered from a billion and end here, too.
        *_if(_AT_LEAST, _NEWER, [_answer(_NO_SUCH_CALL)]),
    ]

    def on(call: tuple[int | None, int | None], then: list[bytes]) -> None:
        number = call[column]
        if number is not None:
            code.extend(_if(_EQUALS, number, then))

    for call in _REFUSED.values():
        on(call, [_answer(_REFUSE)])
    on(_CLONE, _refuse_bits(0, _NEW_NAMESPACES))
    # Its arguments cannot be looked at; without it the C library falls back on `clone`.
    on(_CLONE3, [_answer(_NO_SUCH_CALL)])
    # A pair of datagram sockets could be used to write to any other.
    on(_SOCKETPAIR, _only(1, [_STREAM], _SOCKET_KIND))
    on(_PRCTL, _never(0, [_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE]))
    if not namespaces:
        for call in _REFUSED_WITHOUT_NAMESPACES.values():
            on(call, [_answer(_REFUSE)])
        for call in _OWN_ONLY.values():
            on(call, _only(0, myself))
        if not signals_stay_inside:
            for call in _SIGNALS.values():
                on(call, _only(0, myself))
        on(_FCNTL, _never(1, _SET_OWNER))
        on(_IOCTL, _never(1, _CONTROLS))
        # To open for reading and truncate at once is to write, which old Landlock overlooks.
        on(_OPEN, _never(1, [_TRUNCATE], _MODE_AND_TRUNCATE))
        on(_OPENAT, _never(2, [_TRUNCATE], _MODE_AND_TRUNCATE))
        on(_OPENAT2, [_answer(_NO_SUCH_CALL)])
    return [*code, _answer(_ALLOW)]


# --- Pieces of the filter -------------------------------------------------------------


def _only(argument: int, values: Iterable[int], mask: int | None = None) -> list[bytes]:
    """Allows the call if an argument is among `values`."""
    return _decide(argument, values, mask, _ALLOW, _REFUSE)


def _never(argument: int, values: Iterable[int], mask: int | None = None) -> list[bytes]:
    """Refuses the call if an argument is among `values`."""
    return _decide(argument, values, mask, _REFUSE, _ALLOW)


def _decide(
    argument: int, values: Iterable[int], mask: int | None, among: int, otherwise: int
) -> list[bytes]:
    code = [_load(_ARGUMENTS + 8 * argument)]
    if mask is not None:
        code.append(_jump(_AND, mask, 0, 0))
    for value in values:
        code += _if(_EQUALS, value & 0xFFFFFFFF, [_answer(among)])
    return [*code, _answer(otherwise)]


def _refuse_bits(argument: int, bits: int) -> list[bytes]:
    return [
        _load(_ARGUMENTS + 8 * argument),
        *_if(_HAS_BITS, bits, [_answer(_REFUSE)]),
        _answer(_ALLOW),
    ]


def _if(comparison: int, value: int, then: list[bytes]) -> list[bytes]:
    return [_jump(comparison, value, 0, len(then)), *then]


def _load(offset: int) -> bytes:
    return _jump(_LOAD, offset, 0, 0)


def _answer(value: int) -> bytes:
    return _jump(_ANSWER, value, 0, 0)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
