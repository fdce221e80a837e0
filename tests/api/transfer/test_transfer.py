"""`dolmen export` and `dolmen import`: every format there and back, bad records, and runs that are killed.

Run it with tests/api/transfer/run, or one test with `python3 tests/api/transfer/test_transfer.py Formats`.
DOLMEN_BIN names the binary (default build/dolmen).
"""

import base64
import glob
import gzip
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BIN = os.environ.get("DOLMEN_BIN", "build/dolmen")
HEADERS = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=AKID/20261115/us-east-1/dynamodb/aws4_request, "
                     "SignedHeaders=host;x-amz-date;x-amz-target, Signature=00",
    "X-Amz-Date": "20261115T000000Z",
    "Content-Type": "application/x-amz-json-1.0",
}
EVERYTHING = {
    "b": {"B": "AAH/"}, "bs": {"BS": ["AQ==", "Ag=="]}, "l": {"L": [{"N": "1"}, {"M": {}}]},
    "m": {"M": {"a b": {"NULL": True}}}, "n": {"N": "-1.5"}, "ns": {"NS": ["1", "2.5"]},
    "s": {"S": 'line\n"quote", é😀'}, "ss": {"SS": ["x", "y"]}, "t": {"BOOL": False},
}


def dolmen(*arguments, **more):
    return subprocess.run([BIN, *arguments], capture_output=True, text=True, timeout=240, **more)


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="dolmen-transfer-")
        cls.server = subprocess.Popen([BIN, "serve", "--port", "0", "--memory"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.port = int(re.search(r":(\d+)\n", cls.server.stdout.readline())[1])
        cls.endpoint = f"http://127.0.0.1:{cls.port}"

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGTERM)
        assert cls.server.wait(20) == 0
        cls.server.stdout.close()
        shutil.rmtree(cls.directory)

    def call(self, operation, **request):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810." + operation}
        connection.request("POST", "/", json.dumps(request), headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        self.assertEqual(response.status, 200, answer)
        return answer

    def table(self, name, items=()):
        self.call("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST",
                  KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                  AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                                        {"AttributeName": "sk", "AttributeType": "N"}])
        items = list(items)
        for i in range(0, len(items), 25):
            self.call("BatchWriteItem", RequestItems={name: [{"PutRequest": {"Item": x}} for x in items[i:i + 25]]})
        return name

    def scan(self, name):
        items, key = [], {}
        while True:
            page = self.call("Scan", TableName=name, **key)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return items
            key = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def run_ok(self, command, *arguments, **more):
        result = dolmen(command, *arguments, "--endpoint", self.endpoint, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result


def key(i, **more):
    return {"pk": {"S": f"p{i % 7}"}, "sk": {"N": str(i)}, **more}


class Formats(Base):
    def test_exact_formats(self):
        self.table("src", [key(i, **EVERYTHING) for i in range(90)])
        items = self.scan("src")
        for format in ["dynamodb-json", "ion", "typed", "batch-write", "dynamodump"]:
            for compression in ["none", "gzip", "zstd"]:
                with self.subTest(format=format, compression=compression):
                    many = format in ("batch-write", "dynamodump")
                    output = self.path(f"{format}-{compression}" + ("" if many else ".out"))
                    done = self.run_ok("export", "src", output, "--format", format, "--compress", compression, "--json")
                    self.assertEqual(json.loads(done.stdout)["items"], 90)
                    name = self.table(f"to-{format}-{compression}")
                    done = self.run_ok("import", name, output, "--format", format, "--json")
                    self.assertEqual(json.loads(done.stdout),
                                     {"table": name, "imported": 90, "deleted": 0, "errors": 0, "resumed": False})
                    self.assertEqual(self.scan(name), items)
                    self.assertEqual([f for f in os.listdir(self.directory) if "state" in f], [])

    def test_layout(self):
        self.table("lay", [key(i, **EVERYTHING) for i in range(30)])
        for format in ["dynamodb-json", "ion"]:
            root = self.path("exports-" + format) + "/"
            done = json.loads(self.run_ok("export", "lay", root, "--format", format, "--json").stdout)
            summary = json.load(open(root + done["manifest"]))
            self.assertEqual(summary["itemCount"], 30)
            files = [json.loads(l) for l in open(root + summary["manifestFilesS3Key"])]
            for file in files:
                with open(root + file["dataFileS3Key"], "rb") as data:
                    text = data.read()
                self.assertEqual(file["md5Checksum"], base64.b64encode(hashlib.md5(text).digest()).decode())
                self.assertTrue(file["dataFileS3Key"].endswith(".gz"))
            name = self.table("back-" + format)
            self.run_ok("import", name, root, "--format", format)
            self.assertEqual(self.scan(name), self.scan("lay"))

    def test_plain_json_and_pipes(self):
        self.table("plain", [key(1, a={"L": [{"N": "1.50"}, {"S": "x"}]}, n={"N": "12345678901234567890123456789"})])
        text = self.run_ok("export", "plain", "--format", "json").stdout
        self.assertEqual(text, '{"a":[1.5,"x"],"n":12345678901234567890123456789,"pk":"p1","sk":1}\n')
        name = self.table("plain-back")
        self.run_ok("import", name, "-", "--format", "json", input=text)
        self.assertEqual(self.scan(name), self.scan("plain"))

    MODEL = """table typed {{
  key   PK, SK
  type  Kind
  guard {guard}
}}
type Size {{ wide: number  high: number? }}
entity Thing {{
  PK = "THING#{{id}}"  SK = "{{part:pad(4)}}"
  id     string
  part   integer
  price  number?
  open   boolean?
  photo  binary?
  tags   set<string>?
  codes  set<number>?
  size   Size?
  lines  {{ sku: string  count: integer }}[]?
  code   string?
  plan   "a" | 5 = "a"
}}
entity Other {{
  PK = "OTHER#{{id}}"  SK = "-"
  id string
  note string?
}}
"""

    def typed(self, guard):
        path = self.path("typed.dolmen")
        with open(path, "w") as file:
            file.write(self.MODEL.format(guard=guard))
        self.run_ok("apply", path)

    def test_types_of_the_model(self):
        """Plain formats come back as they were, by the types of the table's model."""
        item = {"PK": {"S": "THING#007"}, "SK": {"S": "0012"}, "Kind": {"S": "Thing"}, "id": {"S": "007"},
                "part": {"N": "12"}, "price": {"N": "12345678901234567890.5"}, "open": {"BOOL": True},
                "photo": {"B": "AAEC"}, "tags": {"SS": ["a", "b,\"c"]}, "codes": {"NS": ["1", "2"]},
                "size": {"M": {"wide": {"N": "3"}}}, "lines": {"L": [{"M": {"sku": {"S": "x"}, "count": {"N": "2"}}}]},
                "code": {"S": "0012"}, "plan": {"N": "5"}}
        other = {"PK": {"S": "OTHER#1"}, "SK": {"S": "-"}, "Kind": {"S": "Other"}, "id": {"S": "1"}, "note": {"S": "12"}}
        self.typed("enforce")
        for one in (item, other):
            self.call("PutItem", TableName="typed", Item=one)
        for format in ("json", "csv"):
            with self.subTest(format=format):
                output = self.path("typed." + format)
                self.run_ok("export", "typed", output, "--format", format)
                for one in (item, other):
                    self.call("DeleteItem", TableName="typed", Key={"PK": one["PK"], "SK": one["SK"]})
                self.run_ok("import", "typed", output, "--format", format)
                for one in (item, other):
                    self.assertEqual(self.call("GetItem", TableName="typed", Key={"PK": one["PK"], "SK": one["SK"]})["Item"], one)

    def test_entities_without_keys(self):
        self.typed("enforce")
        lines = '{"$entity":"Thing","id":"9","part":1,"tags":["x"]}\n{"Kind":"Other","id":"8"}\n'
        self.run_ok("import", "typed", "--format", "json", input=lines)
        got = self.call("GetItem", TableName="typed", Key={"PK": {"S": "THING#9"}, "SK": {"S": "0001"}})["Item"]
        self.assertEqual((got["tags"], got["Kind"], "$entity" in got), ({"SS": ["x"]}, {"S": "Thing"}, False))
        self.assertIn("Item", self.call("GetItem", TableName="typed", Key={"PK": {"S": "OTHER#8"}, "SK": {"S": "-"}}))

    def test_values_that_are_not_of_their_type(self):
        self.typed("enforce")
        shown = dolmen("import", "typed", "--format", "csv", "--endpoint", self.endpoint,
                       input="Kind,id,part,price\nThing,1,x,2\nThing,2,3,\n")
        self.assertEqual(shown.returncode, 1)
        self.assertIn('standard input:2: ValidationException: ', shown.stderr)
        self.assertIn('/part: expected integer, got "x"', shown.stderr)
        shown = dolmen("import", "typed", "--format", "json", "--endpoint", self.endpoint,
                       input='{"Kind":"Thing","id":"1","part":1,"photo":"!"}\n')
        self.assertEqual(shown.returncode, 1)
        self.assertIn("/photo", shown.stderr)

    def test_csv(self):
        self.table("csv", [key(1, title={"S": 'a "b", c'}), key(2, n={"N": "5"}, e={"S": ""})])
        output = self.path("t.csv")
        self.run_ok("export", "csv", output, "--format", "csv")
        self.assertEqual(sorted(open(output).read().splitlines()),
                         sorted(['pk,sk,e,n,title', 'p1,1,,,"a ""b"", c"', 'p2,2,"",5,']))
        name = self.table("csv-back")
        self.run_ok("import", name, output, "--format", "csv")
        self.assertEqual(sorted(self.scan(name), key=lambda i: i["sk"]["N"]),
                         [key(1, title={"S": 'a "b", c'}), key(2, n={"S": "5"}, e={"S": ""})])
        few = dolmen("export", "csv", "--format", "csv", "--columns", "pk,sk", "--endpoint", self.endpoint)
        self.assertEqual(few.returncode, 1)
        self.assertIn("none of the columns", few.stderr)
        name = self.table("csv-tab")
        self.run_ok("import", name, "--format", "csv", "--delimiter", "\t", "--columns", "pk,sk,x", input="a\t1\ty\n")
        self.assertEqual(self.scan(name), [{"pk": {"S": "a"}, "sk": {"N": "1"}, "x": {"S": "y"}}])

    def test_dynamodump_makes_the_table(self):
        self.table("dump", [key(i) for i in range(5)])
        directory = self.path("dump")
        self.run_ok("export", "dump", directory, "--format", "dynamodump")
        self.assertTrue(os.path.exists(self.path("dump", "dump", "schema.json")))
        self.assertTrue(os.path.exists(self.path("dump", "dump", "data", "0001.json")))
        before = self.scan("dump")
        self.call("DeleteTable", TableName="dump")
        self.run_ok("import", "dump", directory, "--format", "dynamodump", "--create")
        self.assertEqual(self.scan("dump"), before)

    def test_batch_files_fit_the_aws_cli(self):
        self.table("batch", [key(i) for i in range(60)])
        self.run_ok("export", "batch", self.path("batch"), "--format", "batch-write")
        files = sorted(glob.glob(self.path("batch", "*.json")))
        self.assertEqual([len(json.load(open(f))["batch"]) for f in files], [25, 25, 10])

    def test_deletions(self):
        name = self.table("deletions", [key(1), key(2)])
        text = json.dumps({name: [{"DeleteRequest": {"Key": key(1)}}, {"PutRequest": {"Item": key(3)}}]})
        self.run_ok("import", name, "-", "--format", "batch-write", input=text)
        self.assertEqual(sorted(i["sk"]["N"] for i in self.scan(name)), ["2", "3"])

    def test_data_directory(self):
        data = self.path("data")
        request = {"TableName": "here", "BillingMode": "PAY_PER_REQUEST",
                   "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                   "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]}
        self.assertEqual(dolmen("call", "CreateTable", json.dumps(request), "--data", data).returncode, 0)
        lines = "".join('{"pk":"k%d"}\n' % i for i in range(40))
        done = dolmen("import", "here", "--format", "json", "--data", data, input=lines)
        self.assertEqual((done.returncode, done.stdout), (0, "here: 40 items imported, 0 bad records\n"), done.stderr)
        out = dolmen("export", "here", "--format", "json", "--data", data)
        self.assertEqual(sorted(out.stdout.splitlines()), sorted(lines.splitlines()))


class Faults(Base):
    def test_bad_records(self):
        name = self.table("bad")
        lines = ['{"Item":%s}' % json.dumps(key(1)), "nonsense", '{"Item":{"pk":{"S":"x"}}}',
                 '{"Item":{"pk":{"S":""},"sk":{"N":"1"}}}', '{"Item":%s}' % json.dumps(key(2))]
        file = self.path("bad.json")
        with open(file, "w") as out:
            out.write("\n".join(lines))
        done = dolmen("import", name, file, "--json", "--endpoint", self.endpoint)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["imported"], 2)
        self.assertEqual(json.loads(done.stdout)["errors"], 3)
        for line in (2, 3, 4):
            self.assertIn(f"{file}:{line}: ", done.stderr)
        self.assertEqual(len(self.scan(name)), 2)

    def test_same_key_twice(self):
        name = self.table("twice")
        text = "".join('{"pk":"a","sk":1,"v":%d}\n' % i for i in range(3))
        self.run_ok("import", name, "--format", "json", input=text)
        self.assertEqual(self.scan(name)[0]["v"], {"N": "2"})

    def test_usage(self):
        for command in ("export", "import"):
            help = dolmen(command, "--help")
            self.assertEqual(help.returncode, 0)
            self.assertIn("Example:", help.stdout)
            self.assertEqual(dolmen(command).returncode, 2)
            self.assertEqual(dolmen(command, "t", "--format", "nope").returncode, 2)
            swapped = dolmen(command, "t", "--format", "cvs")  # two letters in the other order are one mistake
            self.assertIn("did you mean 'csv'?", swapped.stderr)
            missing = dolmen(command, "missing", "--endpoint", self.endpoint, input="")
            self.assertEqual(missing.returncode, 1)
            self.assertIn("ResourceNotFoundException", missing.stderr)
        nowhere = dolmen("import", "t", "/nowhere")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("cannot read '/nowhere': No such file or directory.", str(nowhere.stderr))
        self.assertEqual(dolmen("export", "t", "--format", "batch-write").returncode, 2)
        self.assertEqual(dolmen("export", "t", "--compress", "lzma").returncode, 2)

    def test_cut_file(self):
        name = self.table("cut")
        file = self.path("cut.gz")
        with open(file, "wb") as out:
            out.write(gzip.compress(b'{"pk":"a","sk":1}\n' * 1000)[:-9])
        done = dolmen("import", name, file, "--format", "json", "--endpoint", self.endpoint)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ends too early", done.stderr)


class Resume(Base):
    """A run is killed when its state file is there; the next one goes on, with the same result."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls()
        filler = "".join(chr(33 + i % 90) for i in range(2000))
        self.table("big", [key(i, x={"S": filler}) for i in range(6000)])

    def runTest(self):
        pass

    def kill_when(self, state, *arguments):
        """Starts it and kills it when the state is there; whether it was alive then."""
        process = subprocess.Popen([BIN, *arguments, "--endpoint", self.endpoint, "--quiet"],
                                   stdout=subprocess.DEVNULL)
        end = time.time() + 60
        while process.poll() is None and time.time() < end and not os.path.exists(state):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return os.path.exists(state)

    def test_export(self):
        whole = self.path("whole")
        self.run_ok("export", "big", whole, "--format", "typed")
        for name, format, compression in [("plain", "typed", "none"), ("csv", "csv", "none")]:
            output = self.path("part-" + name)
            killed = self.kill_when(output + ".dolmen-state", "export", "big", output, "--format", format,
                                    "--compress", compression)
            self.assertTrue(killed)
            done = json.loads(self.run_ok("export", "big", output, "--format", format, "--compress", compression,
                                          "--json").stdout)
            self.assertEqual((done["items"], done["resumed"]), (6000, True))
            self.assertFalse(os.path.exists(output + ".dolmen-state"))
            if format == "typed":
                with open(whole, "rb") as a, open(output, "rb") as b:
                    self.assertEqual(a.read(), b.read())

    def test_export_of_many_files(self):
        output = self.path("dumped")
        state = os.path.join(output, ".big.dolmen-state")
        self.assertTrue(self.kill_when(state, "export", "big", output, "--format", "dynamodump"))
        self.run_ok("export", "big", output, "--format", "dynamodump")
        items = []
        for file in sorted(glob.glob(self.path("dumped", "big", "data", "*.json"))):
            items += json.load(open(file))["Items"]
        self.assertEqual(items, self.scan("big"))

    def test_state_of_another_export(self):
        output = self.path("other")
        self.assertTrue(self.kill_when(output + ".dolmen-state", "export", "big", output, "--format", "typed"))
        done = dolmen("export", "big", output, "--format", "json", "--endpoint", self.endpoint)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--restart", done.stderr)
        done = self.run_ok("export", "big", output, "--format", "json", "--restart", "--json")
        self.assertFalse(json.loads(done.stdout)["resumed"])
        self.assertEqual(len(open(output).readlines()), 6000)

    def test_import(self):
        directory = self.path("in")
        os.makedirs(directory)
        for part in range(3):
            with gzip.open(os.path.join(directory, f"{part}.json.gz"), "wt") as out:
                for i in range(part * 5000, part * 5000 + 5000):
                    out.write('{"Item":%s}\n' % json.dumps(key(i)))
        name = self.table("into")
        state = os.path.join(directory, ".into.dolmen-import-state")
        self.assertTrue(self.kill_when(state, "import", name, directory))
        self.assertLess(len(self.scan(name)), 15000)
        done = json.loads(self.run_ok("import", name, directory, "--json").stdout)
        self.assertEqual(done, {"table": name, "imported": 15000, "deleted": 0, "errors": 0, "resumed": True})
        self.assertEqual(sorted(int(i["sk"]["N"]) for i in self.scan(name)), list(range(15000)))
        self.assertFalse(os.path.exists(state))


if __name__ == "__main__":
    unittest.main()
