"""Which lines of the job's Python its time goes to: looks at its stacks, a few times a second."""
