"""The replaceable stages of RAMODO; `assembling` says what each must do."""
