package wedflow

// Request is what [Fetch] sends.
type Request struct {
	// Method is in capitals; GET when left out.
	Method string
	// URL has scheme and host.
	URL     string
	Headers []Header
	Body    []byte
}

// Header is one of a request.
type Header struct {
	Name, Value string
	// Secret names a secret of the flow that the server puts behind the value as it sends the request: the
	// transition need not know it. {"authorization", "Bearer ", "api-key"}
	Secret string
}

// Response is an answer, whatever its status. Names of headers are in small letters.
type Response struct {
	Status  int
	Headers [][2]string
	Body    []byte
}

// Header is a header's value, by its name in small letters; nothing when there is none.
func (r *Response) Header(name string) string {
	for _, header := range r.Headers {
		if header[0] == name {
			return header[1]
		}
	}
	return ""
}

// FetchErrorKind is what kind of failure a [FetchError] is.
type FetchErrorKind uint8

// The kinds: the operator or the flow does not allow it; the request makes no sense; it or its answer is too large;
// there is no connection, or none that lasts; it took too long.
const (
	FetchDenied FetchErrorKind = iota
	FetchInvalid
	FetchTooLarge
	FetchUnreachable
	FetchTimedOut
)

// FetchError is why there is no answer. Returned by a transition it is a failure, which is tried again where the
// other side was not reached or took too long.
type FetchError struct {
	Kind    FetchErrorKind
	Message string
}

func (e *FetchError) Error() string { return e.Message }

func (e *FetchError) retry() bool { return e.Kind == FetchUnreachable || e.Kind == FetchTimedOut }

// Fetch sends a request, where the operator and the flow both name the host, and waits for the answer; the time
// counts against the timeout. It happens at least once, not exactly once: send [Key] along where the other side can
// tell repetitions by it. (net/http has no network here.)
func Fetch(request Request) (*Response, error) {
	if request.Method == "" {
		request.Method = "GET"
	}
	response, refused := hostFetch(request)
	if refused != nil {
		return nil, refused
	}
	return response, nil
}

// Key names what fired this transition: the same in every attempt at it, another in every other firing.
func Key() string { return hostKey() }
