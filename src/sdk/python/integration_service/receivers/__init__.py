"""Views that receive webhooks, a module per framework. Each imports its framework, which the package does not install."""
