"""How is JAX set up in a process that is ours: the program, and the workers it starts?

Float64, loops over single states compiled whole, and compiled programs kept in the
user's cache folder. These switches are global, so only our own processes turn
them, never the library.
"""

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path


class DeviceError(Exception):
    """There is no such device here. Its text is one sentence."""


def set_up_jax(*xla_flags: str, device: str = "auto") -> None:
    """Turns the switches; to be called before JAX is imported.

    Args:
        xla_flags: to be added to those in the environment.
        device: cpu, gpu, or auto for what JAX takes.

    Raises:
        DeviceError: if a GPU was asked for and JAX finds none.
    """
    # Before JAX is imported, which reads it once. A loop whose steps touch less than this many
    # bytes becomes one kernel, where by default it would start several for each step, which is
    # most of a free run (docs/performance.md). Loops over ensembles are far larger.
    flags = [os.environ.get("XLA_FLAGS", ""), *xla_flags]
    if "xla_backend_extra_options" not in flags[0]:
        flags.append("--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=16384")
    os.environ["XLA_FLAGS"] = " ".join(flags).strip()
    import jax
    import platformdirs

    if device != "auto":
        _choose(device)
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    # One folder for each jaxlib and processor: programs compiled for another do not load.
    folder = platformdirs.user_cache_path("enso-jax", appauthor=False)
    key = f"jaxlib-{importlib.metadata.version('jaxlib')}-{_processor()}"
    jax.config.update("jax_compilation_cache_dir", str(folder / key))


def _choose(device: str) -> None:
    import jax

    try:
        jax.config.update("jax_default_device", jax.devices(device)[0])
    except RuntimeError as error:
        raise DeviceError(
            f"JAX finds no {device} here: use --device cpu, or install JAX for yours "
            "(pip install 'jax[cuda12]' for NVIDIA)."
        ) from error


def _processor() -> str:
    """A name for what the processor can do, the same on equal machines."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = [
        line
        for line in (cpuinfo.read_text().splitlines() if cpuinfo.exists() else [])
        if line.startswith(("flags", "Features"))
    ]
    text = platform.machine() + platform.processor() + "".join(flags[:1])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
