package handlers

// value is what an optional member holds, or the default.
func value[T any](member *T, otherwise T) T {
	if member == nil {
		return otherwise
	}
	return *member
}

// orNil is nil for "", which stands for absent in stored state.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func ptr[T any](v T) *T { return &v }
