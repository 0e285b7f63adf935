package avro_test

// golden pairs JSON texts with the blob that the published Python SDK encodes for the same value.
var golden = []struct{ json, blob string }{
	{`null`, "wwHioz3/VYAiNwA="},
	{`true`, "wwHioz3/VYAiNwIB"},
	{`false`, "wwHioz3/VYAiNwIA"},
	{`0`, "wwHioz3/VYAiNwQA"},
	{`1`, "wwHioz3/VYAiNwQC"},
	{`-1`, "wwHioz3/VYAiNwQB"},
	{`63`, "wwHioz3/VYAiNwR+"},
	{`64`, "wwHioz3/VYAiNwSAAQ=="},
	{`-64`, "wwHioz3/VYAiNwR/"},
	{`-65`, "wwHioz3/VYAiNwSBAQ=="},
	{`7`, "wwHioz3/VYAiNwQO"},
	{`9007199254740993`, "wwHioz3/VYAiNwSCgICAgICAIA=="},
	{`9223372036854775807`, "wwHioz3/VYAiNwT+//////////8B"},
	{`-9223372036854775808`, "wwHioz3/VYAiNwT///////////8B"},
	{`3.0`, "wwHioz3/VYAiNwYAAAAAAAAIQA=="},
	{`-0.0`, "wwHioz3/VYAiNwYAAAAAAAAAgA=="},
	{`0.1`, "wwHioz3/VYAiNwaamZmZmZm5Pw=="},
	{`0.30000000000000004`, "wwHioz3/VYAiNwY0MzMzMzPTPw=="},
	{`1e5`, "wwHioz3/VYAiNwYAAAAAAGr4QA=="},
	{`1e22`, "wwHioz3/VYAiNwaS1U0Gz/CARA=="},
	{`1.7976931348623157e308`, "wwHioz3/VYAiNwb////////vfw=="},
	{`5e-324`, "wwHioz3/VYAiNwYBAAAAAAAAAA=="},
	{`7.0`, "wwHioz3/VYAiNwYAAAAAAAAcQA=="},
	{`""`, "wwHioz3/VYAiNwoA"},
	{`"héllo"`, "wwHioz3/VYAiNwoMaMOpbGxv"},
	{`"😀"`, "wwHioz3/VYAiNwoI8J+YgA=="},
	{`"a\"b\\c\n"`, "wwHioz3/VYAiNwoMYSJiXGMK"},
	{`[]`, "wwHioz3/VYAiNwwA"},
	{`{}`, "wwHioz3/VYAiNw4A"},
	{`[{},[]]`, "wwHioz3/VYAiNwwEDgAMAAA="},
	{`[null,7,7.0,"text"]`, "wwHioz3/VYAiNwwIAAQOBgAAAAAAABxACgh0ZXh0AA=="},
	{`{"a":1,"b":[true,null]}`, "wwHioz3/VYAiNw4EAmEEAgJiDAQCAQAAAA=="},
	{`{"z":1,"a":2,"m":3}`, "wwHioz3/VYAiNw4GAnoEAgJhBAQCbQQGAA=="},
	{`{"0":"zero","1":"one"}`, "wwHioz3/VYAiNw4EAjAKCHplcm8CMQoGb25lAA=="},
	{`{"":{"":[]}}`, "wwHioz3/VYAiNw4CAA4CAAwAAAA="},
	{`[[[[1]]]]`, "wwHioz3/VYAiNwwCDAIMAgwCBAIAAAAA"},
	{`["0","false","null",0,false,null]`, "wwHioz3/VYAiNwwMCgIwCgpmYWxzZQoIbnVsbAQAAgAAAA=="},
	{`["2026-01-01T00:00:00Z",9223372036854775807,-9223372036854775808,0.5]`, "wwHioz3/VYAiNwwICigyMDI2LTAxLTAxVDAwOjAwOjAwWgT+//////////8BBP///////////wEGAAAAAAAA4D8A"},
	{`[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69]`, "wwHioz3/VYAiNwyMAQQABAIEBAQGBAgECgQMBA4EEAQSBBQEFgQYBBoEHAQeBCAEIgQkBCYEKAQqBCwELgQwBDIENAQ2BDgEOgQ8BD4EQARCBEQERgRIBEoETAROBFAEUgRUBFYEWARaBFwEXgRgBGIEZARmBGgEagRsBG4EcARyBHQEdgR4BHoEfAR+BIABBIIBBIQBBIYBBIgBBIoBAA=="},
	{`"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`, "wwHioz3/VYAiNwqMAXh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg="},
}

// goldenBytes pairs blobs of the same encoder with the preview of a value that JSON cannot hold.
var goldenBytes = []struct{ blob, preview string }{
	{"wwHioz3/VYAiNwgA", `{"$bytes":""}`},
	{"wwHioz3/VYAiNwgEAP8=", `{"$bytes":"AP8="}`},
	{"wwHioz3/VYAiNwwECAZhYmMOAgJrCAL+AAA=", `[{"$bytes":"YWJj"},{"k":{"$bytes":"/g=="}}]`},
}

// shown are the golden texts whose preview differs from the text, and how.
var shown = map[string]string{
	"1e5":                    "100000.0",
	"1e22":                   "1e+22",
	"1.7976931348623157e308": "1.7976931348623157e+308",
}
