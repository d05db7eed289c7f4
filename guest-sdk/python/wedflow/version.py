"""The SDK's version, which a component carries in its manifest."""

VERSION = "0.1.0"
