"""One file per scenario: its docstring names it, PROGRAMS are its SDK programs, run() plays and asserts it."""
