"""Runs the tests of this directory, several classes at a time, or what is named, as test_sweep.Retain. The last line is 'N passed, N failed'."""
import concurrent.futures
import re
import subprocess
import sys
import unittest

CLASSES = ['test_crash.Crash', 'test_sweep.Retain', 'test_sweep.Keep', 'test_sweep.Consequences', 'test_apply.Consent', 'test_seed.Seed']


def run_here(names):
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(unittest.defaultTestLoader.loadTestsFromNames(names))
    failed = len(result.failures) + len(result.errors)
    return max(result.testsRun - failed, 0), failed


def run_beside(name):
    """Most of them wait most of the time: for a rate, or for a server."""
    output = subprocess.run([sys.executable, __file__, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    match = re.search(r'(\d+) passed, (\d+) failed\n?$', output)
    return (output, int(match[1]), int(match[2])) if match else (output, 0, 1)


def main(names):
    if names:
        passed, failed = run_here(names)
    else:
        passed = failed = 0
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for output, good, bad in pool.map(run_beside, CLASSES):
                print(output)
                passed, failed = passed + good, failed + bad
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
