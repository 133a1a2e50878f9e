package backendtest

func processOperations() map[string]operation { return map[string]operation{"converse": listen} }
func childOperations() map[string]operation   { return nil }
