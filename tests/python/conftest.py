"""What all tests here rely on."""

import signal

# A shell that starts the tests in the background has them ignore Ctrl-C, and with them every
# program that they start; some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)
