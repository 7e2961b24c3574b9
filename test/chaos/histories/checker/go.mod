module integrationservice.example/checker

go 1.21.0

require github.com/anishathalye/porcupine v1.3.1
