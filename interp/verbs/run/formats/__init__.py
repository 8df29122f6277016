"""The output formats of `interp run`."""

from __future__ import annotations

from typing import Final

from interp.output.formats import Formats
from interp.verbs.run.answers import Answers
from interp.verbs.run.formats.fields import print_json_fields, print_yaml_fields
from interp.verbs.run.formats.text import print_answers

FORMATS: Final[Formats[Answers]] = Formats(text=print_answers, json=print_json_fields, yaml=print_yaml_fields)
