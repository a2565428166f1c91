"""The replaceable stages of RAMODO; `protocols` says what each must provide."""
