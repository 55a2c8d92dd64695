"""How does the program set up JAX?

Float64, loops over single states compiled whole, and compiled programs kept in the
user's cache folder. These switches are global, so only the program turns them, never
the library.
"""

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path


def set_up_jax() -> None:
    """Float64, and compiled programs kept in the user's cache folder.

    These switches are global, so only the program turns them, never the library.
    """
    # Before JAX is imported, which reads it once. A loop whose steps touch less than this many
    # bytes becomes one kernel, where by default it would start several for each step: a free
    # run takes half as long (docs/performance.md). Loops over ensembles are far larger.
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_backend_extra_options" not in flags:
        small = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=16384"
        os.environ["XLA_FLAGS"] = f"{flags} {small}".strip()
    import jax
    import platformdirs

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    # One folder for each jaxlib and processor: programs compiled for another do not load.
    folder = platformdirs.user_cache_path("enso-jax", appauthor=False)
    key = f"jaxlib-{importlib.metadata.version('jaxlib')}-{_processor()}"
    jax.config.update("jax_compilation_cache_dir", str(folder / key))


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
