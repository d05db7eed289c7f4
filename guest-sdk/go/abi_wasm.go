//go:build wasip1

package wedflow

import (
	"unsafe"
)

// The component model's canonical ABI of wit/transition.wit, by hand: what it takes is small, and the
// generated kind needs a module that the Go proxy does not have.

//go:wasmimport wed:flow/host@0.1.0 log
func importLog(severity int32, message unsafe.Pointer, length uint32, fields unsafe.Pointer, count uint32)

//go:wasmimport wed:flow/host@0.1.0 now
func hostNow() int64

//go:wasmimport wed:flow/host@0.1.0 random
func hostRandom() uint64

//go:wasmimport wed:flow/host@0.1.0 sleep
func hostSleep(microseconds uint64)

//go:wasmimport wed:flow/host@0.1.0 config
func importConfig(key unsafe.Pointer, length uint32, found unsafe.Pointer)

//go:wasmimport wed:flow/host@0.1.0 secret
func importSecret(name unsafe.Pointer, length uint32, found unsafe.Pointer)

//go:wasmimport wed:flow/host@0.1.0 attributes
func importAttributes(names unsafe.Pointer)

//go:wasmimport wed:flow/files@0.1.0 read
func importFileRead(name unsafe.Pointer, length uint32, result unsafe.Pointer)

//go:wasmimport wed:flow/files@0.1.0 write
func importFileWrite(name unsafe.Pointer, length uint32, content unsafe.Pointer, bytes uint32, result unsafe.Pointer)

//go:wasmimport wed:flow/files@0.1.0 append
func importFileAppend(name unsafe.Pointer, length uint32, content unsafe.Pointer, bytes uint32, result unsafe.Pointer)

//go:wasmimport wed:flow/files@0.1.0 remove
func importFileRemove(name unsafe.Pointer, length uint32, result unsafe.Pointer)

//go:wasmimport wed:flow/files@0.1.0 all
func importFiles(result unsafe.Pointer)

//go:wasmimport wed:flow/http@0.1.0 fetch
func importFetch(method unsafe.Pointer, methodLength uint32, url unsafe.Pointer, urlLength uint32,
	headers unsafe.Pointer, count uint32, body unsafe.Pointer, bytes uint32, result unsafe.Pointer)

//go:wasmimport wed:flow/http@0.1.0 key
func importKey(key unsafe.Pointer)

// begin tells the WASI that `wed component encode` puts beneath Go's runtime that the host may be called
// (`describe` must not), and where there is room for a line that is being printed.
//
//go:wasmimport wasi_snapshot_preview1 wedflow_begin
func begin(line unsafe.Pointer, room uint32)

// end logs what was printed without an end of line.
//
//go:wasmimport wasi_snapshot_preview1 wedflow_end
func end()

var line [1024]byte

// kept holds what the host was given or wrote: it lives as long as the instance, which is one call.
var kept [][]uint64

// room is memory for the host, aligned to 8, which the collector neither moves nor frees.
func room(bytes uint32) unsafe.Pointer {
	block := make([]uint64, bytes/8+1)
	kept = append(kept, block)
	return unsafe.Pointer(unsafe.SliceData(block))
}

//go:wasmexport cabi_realloc
func cabiRealloc(block unsafe.Pointer, old, align, size uint32) unsafe.Pointer {
	moved := room(size)
	if old > 0 {
		copy(unsafe.Slice((*byte)(moved), size), unsafe.Slice((*byte)(block), old))
	}
	return moved
}

type writer struct{ at unsafe.Pointer }

func (w writer) u8(offset uintptr, n uint8)   { *(*uint8)(unsafe.Add(w.at, offset)) = n }
func (w writer) u32(offset uintptr, n uint32) { *(*uint32)(unsafe.Add(w.at, offset)) = n }
func (w writer) u64(offset uintptr, n uint64) { *(*uint64)(unsafe.Add(w.at, offset)) = n }

func (w writer) pointer(offset uintptr, to unsafe.Pointer, length int) {
	w.u32(offset, uint32(uintptr(to)))
	w.u32(offset+4, uint32(length))
}

// texts keeps alive what was written as text.
var texts []string

func (w writer) text(offset uintptr, text string) {
	texts = append(texts, text)
	w.pointer(offset, unsafe.Pointer(unsafe.StringData(text)), len(text))
}

func textAt(at unsafe.Pointer) string {
	start := *(*uint32)(at)
	return textOf(start, *(*uint32)(unsafe.Add(at, 4)))
}

func address(at uint32) unsafe.Pointer { return unsafe.Pointer(uintptr(at)) }

func textOf(start, length uint32) string {
	if length == 0 {
		return ""
	}
	return unsafe.String((*byte)(address(start)), length)
}

func hostLog(severity Severity, message string, fields [][2]string) {
	list := room(uint32(len(fields)) * 16)
	for n, field := range fields {
		w := writer{unsafe.Add(list, n*16)}
		w.text(0, field[0])
		w.text(8, field[1])
	}
	importLog(int32(severity), unsafe.Pointer(unsafe.StringData(message)), uint32(len(message)), list, uint32(len(fields)))
}

func hostConfig(key string) (string, bool) {
	found := room(16)
	importConfig(unsafe.Pointer(unsafe.StringData(key)), uint32(len(key)), found)
	return maybe(found)
}

func hostSecret(name string) (string, bool) {
	found := room(16)
	importSecret(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)), found)
	return maybe(found)
}

func maybe(found unsafe.Pointer) (string, bool) {
	if *(*uint8)(found) == 0 {
		return "", false
	}
	return textAt(unsafe.Add(found, 4)), true
}

func attributeNames() []string {
	list := room(8)
	importAttributes(list)
	start, count := *(*uint32)(list), *(*uint32)(unsafe.Add(list, 4))
	names := make([]string, count)
	for n := range names {
		names[n] = textAt(unsafe.Add(address(start), n*8))
	}
	return names
}

// bytesAt is a copy: the host's memory is not the caller's to grow.
func bytesAt(at unsafe.Pointer) []byte { return []byte(textAt(at)) }

// Sizes of a result of the file functions and of fetch; what they hold begins at 4.
const fileResultBytes, fetchResultBytes, headerBytes = 16, 24, 28

func fileRefused(result unsafe.Pointer) *FileError {
	if *(*uint8)(result) == 0 {
		return nil
	}
	return &FileError{FileErrorKind(*(*uint8)(unsafe.Add(result, 4))), textAt(unsafe.Add(result, 8))}
}

func hostFileRead(name string) ([]byte, bool, *FileError) {
	result := room(fileResultBytes)
	importFileRead(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)), result)
	if refused := fileRefused(result); refused != nil || *(*uint8)(unsafe.Add(result, 4)) == 0 {
		return nil, false, refused
	}
	return bytesAt(unsafe.Add(result, 8)), true, nil
}

func hostFileWrite(name string, content []byte) *FileError {
	result := room(fileResultBytes)
	importFileWrite(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)),
		unsafe.Pointer(unsafe.SliceData(content)), uint32(len(content)), result)
	return fileRefused(result)
}

func hostFileAppend(name string, more []byte) *FileError {
	result := room(fileResultBytes)
	importFileAppend(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)),
		unsafe.Pointer(unsafe.SliceData(more)), uint32(len(more)), result)
	return fileRefused(result)
}

func hostFileRemove(name string) (bool, *FileError) {
	result := room(fileResultBytes)
	importFileRemove(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)), result)
	refused := fileRefused(result)
	return refused == nil && *(*uint8)(unsafe.Add(result, 4)) == 1, refused
}

func hostFiles() ([]File, *FileError) {
	result := room(fileResultBytes)
	importFiles(result)
	if refused := fileRefused(result); refused != nil {
		return nil, refused
	}
	start, count := *(*uint32)(unsafe.Add(result, 4)), *(*uint32)(unsafe.Add(result, 8))
	all := make([]File, count)
	for n := range all {
		file := unsafe.Add(address(start), n*16)
		all[n] = File{textAt(file), *(*uint64)(unsafe.Add(file, 8))}
	}
	return all, nil
}

func hostFetch(request Request) (*Response, *FetchError) {
	headers := room(uint32(len(request.Headers)) * headerBytes)
	for n, header := range request.Headers {
		w := writer{unsafe.Add(headers, n*headerBytes)}
		w.text(0, header.Name)
		w.text(8, header.Value)
		if header.Secret != "" {
			w.u8(16, 1)
			w.text(20, header.Secret)
		}
	}
	result := room(fetchResultBytes)
	importFetch(unsafe.Pointer(unsafe.StringData(request.Method)), uint32(len(request.Method)),
		unsafe.Pointer(unsafe.StringData(request.URL)), uint32(len(request.URL)), headers, uint32(len(request.Headers)),
		unsafe.Pointer(unsafe.SliceData(request.Body)), uint32(len(request.Body)), result)
	if *(*uint8)(result) == 1 {
		return nil, &FetchError{FetchErrorKind(*(*uint8)(unsafe.Add(result, 4))), textAt(unsafe.Add(result, 8))}
	}
	start, count := *(*uint32)(unsafe.Add(result, 8)), *(*uint32)(unsafe.Add(result, 12))
	response := &Response{
		Status: int(*(*uint16)(unsafe.Add(result, 4))), Headers: make([][2]string, count),
		Body: bytesAt(unsafe.Add(result, 16)),
	}
	for n := range response.Headers {
		pair := unsafe.Add(address(start), n*16)
		response.Headers[n] = [2]string{textAt(pair), textAt(unsafe.Add(pair, 8))}
	}
	return response, nil
}

func hostKey() string {
	key := room(8)
	importKey(key)
	return textAt(key)
}

// Sizes of a scalar, a value, an assignment, a declaration.
const scalarBytes, valueBytes, assignmentBytes, declarationBytes = 16, 24, 32, 104

func scalarAt(at unsafe.Pointer) Value {
	v := Value{kind: Kind(*(*uint8)(at))}
	payload := unsafe.Add(at, 8)
	switch v.kind {
	case KindNull:
	case KindInteger, KindDate:
		v.number = int64(*(*int32)(payload))
	case KindBigint, KindTimestamptz, KindFloat:
		v.number = *(*int64)(payload)
	case KindBoolean:
		v.number = int64(*(*uint8)(payload))
	default:
		v.text = textAt(payload)
	}
	return v
}

func valueAt(at unsafe.Pointer) Value {
	if *(*uint8)(at) == 0 {
		return scalarAt(unsafe.Add(at, 8))
	}
	start, count := *(*uint32)(unsafe.Add(at, 8)), *(*uint32)(unsafe.Add(at, 12))
	list := make([]Value, count)
	for n := range list {
		list[n] = scalarAt(unsafe.Add(address(start), n*scalarBytes))
	}
	return Value{kind: kindList, list: list}
}

func (w writer) scalar(v Value) {
	w.u8(0, uint8(v.kind))
	switch v.kind {
	case KindNull:
	case KindInteger, KindDate:
		w.u32(8, uint32(int32(v.number)))
	case KindBigint, KindTimestamptz, KindFloat:
		w.u64(8, uint64(v.number))
	case KindBoolean:
		w.u8(8, uint8(v.number))
	default:
		w.text(8, v.text)
	}
}

func (w writer) value(v Value) {
	if v.kind != kindList {
		writer{unsafe.Add(w.at, 8)}.scalar(v)
		return
	}
	list := room(uint32(len(v.list)) * scalarBytes)
	for n, element := range v.list {
		writer{unsafe.Add(list, n*scalarBytes)}.scalar(element)
	}
	w.u8(0, 1)
	w.pointer(8, list, len(v.list))
}

//go:wasmexport run
func exportRun(flow, flowLength uint32, wid int32, trigger, triggerLength, transition, transitionLength,
	attempt uint32, deadline int64, state, count uint32) unsafe.Pointer {
	begin(unsafe.Pointer(&line), uint32(len(line)))
	defer end()
	job := &Job{
		Flow: textOf(flow, flowLength), WID: wid, Trigger: textOf(trigger, triggerLength),
		Transition: textOf(transition, transitionLength), Attempt: attempt, Deadline: Timestamp(deadline),
	}
	values := make([]Value, count)
	for n := range values {
		values[n] = valueAt(unsafe.Add(address(state), n*valueBytes))
	}
	_, change, failure := answer(job, attributeNames, values)
	w := writer{room(32)}
	switch {
	case failure != nil && failure.Aborted:
		w.u8(0, 2)
		w.text(8, failure.Message)
		if failure.After > 0 {
			w.u8(16, 1)
			w.u64(24, uint64(failure.After.Microseconds()))
		}
	case failure != nil:
		w.u8(0, 3)
		w.text(8, failure.Message)
		if failure.Retry {
			w.u8(16, 1)
		}
	case change.clause != "":
		w.text(8, change.clause)
	default:
		list := room(uint32(len(change.sets)) * assignmentBytes)
		for n, one := range change.sets {
			w := writer{unsafe.Add(list, n*assignmentBytes)}
			w.u32(0, one.position)
			writer{unsafe.Add(w.at, 8)}.value(one.value)
		}
		w.u8(0, 1)
		w.pointer(8, list, len(change.sets))
	}
	return w.at
}

func (w writer) attributes(offset uintptr, list []Attribute, whatever bool) {
	if whatever {
		return
	}
	out := room(uint32(len(list)) * 16)
	for n, attribute := range list {
		w := writer{unsafe.Add(out, n*16)}
		w.text(0, attribute.Name)
		w.text(8, attribute.Kind)
	}
	w.u8(offset, 1)
	w.pointer(offset+4, out, len(list))
}

func (w writer) limit(offset uintptr, limit uint64) {
	if limit > 0 {
		w.u8(offset, 1)
		w.u64(offset+8, limit)
	}
}

//go:wasmexport describe
func exportDescribe() unsafe.Pointer {
	list := room(uint32(len(component.transitions)) * declarationBytes)
	for n, d := range component.transitions {
		w := writer{unsafe.Add(list, n*declarationBytes)}
		w.text(0, d.name)
		w.text(8, d.description)
		w.attributes(16, d.reads, d.everything)
		w.attributes(28, d.writes, d.anything)
		if d.condition != "" {
			w.u8(40, 1)
			w.text(44, d.condition)
		}
		w.limit(56, uint64(d.timeout.Milliseconds()))
		w.limit(72, d.fuel)
		w.limit(88, d.memory)
	}
	w := writer{room(24)}
	w.text(0, component.name)
	w.text(8, "go "+Version)
	w.pointer(16, list, len(component.transitions))
	return w.at
}
