package wedflow

import "io/fs"

// File is a file of the instance, as listed.
type File struct {
	Name string
	// Size is in bytes.
	Size uint64
}

// FileErrorKind is what kind of failure a [FileError] is.
type FileErrorKind uint8

// The kinds: the operator or the flow does not grant files; no file can have this name; too large, or too many;
// the folder of the files is unavailable at the moment.
const (
	FileDenied FileErrorKind = iota
	FileName
	FileNoRoom
	FileUnavailable
)

// FileError is why a file is not read or written. Returned by a transition it is a failure, which is tried again
// if the files are unavailable at the moment.
type FileError struct {
	Kind    FileErrorKind
	Message string
}

func (e *FileError) Error() string { return e.Message }

func (e *FileError) retry() bool { return e.Kind == FileUnavailable }

// ReadFile is the content of a file of the instance: a private folder, the same for all transitions of the
// instance, gone when it is final, where the operator and the flow grant it. What an attempt writes stays only if
// its result is committed. Where there is no such file, errors.Is(err, fs.ErrNotExist) holds.
func ReadFile(name string) ([]byte, error) {
	content, there, refused := hostFileRead(name)
	if refused != nil {
		return nil, refused
	}
	if !there {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return content, nil
}

// WriteFile makes a file, or replaces its content: at most 1 MiB.
func WriteFile(name string, content []byte) error { return orNil(hostFileWrite(name, content)) }

// AppendFile puts more behind a file's content, or makes the file.
func AppendFile(name string, more []byte) error { return orNil(hostFileAppend(name, more)) }

// RemoveFile removes a file; whether there was one.
func RemoveFile(name string) (bool, error) {
	was, refused := hostFileRemove(name)
	return was, orNil(refused)
}

// Files are all files, by name.
func Files() ([]File, error) {
	all, refused := hostFiles()
	return all, orNil(refused)
}

// orNil keeps a nil pointer from being an error.
func orNil(refused *FileError) error {
	if refused == nil {
		return nil
	}
	return refused
}
