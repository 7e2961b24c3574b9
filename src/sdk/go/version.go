package sdk

import (
	"runtime/debug"
	"strings"
)

const modulePath = "integration.example.com/sdk"

// userAgent has the version of this module in the program.
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
