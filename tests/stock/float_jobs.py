# SPDX-License-Identifier: Apache-2.0
"""Models through float_runner (float_runner.cpp), all in one process."""
import subprocess
import sys


def answers_of(runner, jobs):
    """The runner's line for each (name, model, folder of its inputs). One that ends it ends the test, by its name."""
    lines = "".join("%s %s\n" % (model, folder) for _, model, folder in jobs)
    done = subprocess.run([runner], input=lines, capture_output=True, text=True)
    answers = done.stdout.splitlines()
    if done.returncode or len(answers) != len(jobs):
        name = jobs[len(answers)][0] if len(answers) < len(jobs) else "the end"
        sys.exit("FAIL the runner ended at %s with code %d: %s" % (name, done.returncode, done.stderr[-2000:]))
    return answers
