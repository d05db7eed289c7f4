module outside

go 1.24

require github.com/wedflow/wedflow/guest-sdk/go v0.0.0

replace github.com/wedflow/wedflow/guest-sdk/go => ../../../../guest-sdk/go
