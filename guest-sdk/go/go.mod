module github.com/wedflow/wedflow/guest-sdk/go

go 1.24
