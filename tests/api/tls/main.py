"""Runs the tests of this directory and prints failures and the sum."""
import sys
import unittest


class Quiet(unittest.TextTestResult):
    """Says nothing but failures."""

    def addError(self, test, err):
        unittest.TestResult.addError(self, test, err)
        self.tell(test, self.errors[-1][1])

    def addFailure(self, test, err):
        unittest.TestResult.addFailure(self, test, err)
        self.tell(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        unittest.TestResult.addSubTest(self, test, subtest, err)
        if err is not None:
            self.tell(subtest, self._exc_info_to_string(err, test))

    def tell(self, test, text):
        print(f'FAIL {test.id()}\n{text}')

    addSuccess = unittest.TestResult.addSuccess
    addSkip = unittest.TestResult.addSkip
    startTest = unittest.TestResult.startTest


loader = unittest.TestLoader()
suite = loader.loadTestsFromNames(sys.argv[1:]) if len(sys.argv) > 1 else loader.discover('.', 'test_*.py')
outcome = Quiet(unittest.runner._WritelnDecorator(sys.stderr), True, 0)
suite.run(outcome)
failed = len(outcome.failures) + len(outcome.errors)
passed = outcome.testsRun - len({id(t) for t, _ in outcome.failures + outcome.errors}) - len(outcome.skipped)
if outcome.skipped:
    print(f'{len(outcome.skipped)} skipped')
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
