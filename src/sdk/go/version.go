package sdk

import (
	"runtime/debug"
	"strings"
)

const modulePath = "integration.example.com/sdk"

// userAgent says which version of this module the program was built with.
var userAgent = "integration-service-sdk-go/" + version()

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == modulePath {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}
