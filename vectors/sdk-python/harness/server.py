"""A real server process: started, killed and started again at the same address."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One dwserver process. Its port and its database stay the same over restarts."""

    def __init__(self, binary: str, database_url: str, log_path: str, settings: dict[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._binary = binary
        self._log_path = log_path
        self._settings = settings
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("DW_")}
        self._env = inherited | settings | {
            "DW_LISTEN": f"127.0.0.1:{self.port}",
            "DW_DATABASE_URL": database_url,
        }
        self._process: subprocess.Popen | None = None

    def another(self, name: str, settings: dict[str, str]) -> "Server":
        """A second server of its own: another port, a new SQLite file beside the log, other settings."""
        path = os.path.join(os.path.dirname(self._log_path), name)
        return Server(self._binary, f"sqlite://{path}.db", f"{path}.log", self._settings | settings)

    def start(self) -> None:
        """Returns when the server says that it is ready; raises when it ends or takes 20 s."""
        with open(self._log_path, "ab") as log:
            self._process = subprocess.Popen(
                [self._binary, "serve"], env=self._env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with {self._process.returncode} at its start")
            try:
                with urllib.request.urlopen(f"{self.url}/api/ready", timeout=2):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
        raise RuntimeError("the server was not ready within 20 s")

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, no request is finished."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
