"""The programs, by topic: every function whose name does not begin with an underscore is one."""
