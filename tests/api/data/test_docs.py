"""docs/DATA-API.md: every command in it is run, and every answer in it compared."""
import json
import os
import re
import subprocess
import tempfile
import unittest
from decimal import Decimal

from lib import BINARY, ROOT, Server

BLOCK = re.compile(r'^```(\w+)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def alike(expected, actual):
    """Equal, where the text "…" stands for any."""
    if expected == '…':
        return isinstance(actual, str)
    if isinstance(expected, dict):
        return isinstance(actual, dict) and list(expected) == list(actual) and all(alike(expected[k], actual[k]) for k in expected)
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(alike, expected, actual))
    return expected == actual


class Docs(unittest.TestCase):
    maxDiff = None

    def test_examples(self):
        with open(os.path.join(ROOT, 'docs', 'DATA-API.md')) as file:
            blocks = BLOCK.findall(file.read())
        answers = 0
        with tempfile.TemporaryDirectory() as directory, Server(os.path.join(directory, 'db')) as server:
            os.symlink(BINARY, os.path.join(directory, 'dolmen'))
            environment = {**os.environ, 'PATH': directory + ':' + os.environ['PATH']}
            output = ''
            for kind, text in blocks:
                if kind == 'dolmen':
                    with open(os.path.join(directory, 'shop.dolmen'), 'w') as file:
                        file.write(text)
                elif kind == 'sh':
                    text = text.replace('http://127.0.0.1:8000', server.endpoint)
                    text = re.sub(r'^(dolmen .*)$', rf'\1 --endpoint {server.endpoint}', text, flags=re.MULTILINE)
                    done = subprocess.run(['bash', '-e', '-c', text], capture_output=True, text=True, cwd=directory, env=environment)
                    self.assertEqual(done.returncode, 0, text + done.stdout + done.stderr)
                    output = done.stdout
                elif kind == 'json':
                    expected = json.loads(text, parse_float=Decimal)
                    actual = json.loads(output, parse_float=Decimal)
                    self.assertTrue(alike(expected, actual), f'{text}\nis not\n{output}')
                    answers += 1
        self.assertGreaterEqual(answers, 8)


if __name__ == '__main__':
    unittest.main()
