"""The four models."""
import os

from server import ROOT

NAMES = ['pornspot', 'figureforge', 'asset-creator', 'kinex-fit']


def model_of(name):
    return os.path.join(ROOT, 'models', name, name + '.dolmen')
