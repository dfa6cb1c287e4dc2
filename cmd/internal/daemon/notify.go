package daemon

import (
	"context"
	"log/slog"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

const (
	// extendEvery is how often the service manager is asked for more time to stop, and
	// extendBy for how much, in microseconds.
	extendEvery = 10 * time.Second
	extendBy    = "60000000"
)

// tellManager tells systemd, if that has started a mount in the foreground, what the mount does:
// see sd_notify(3).
func tellManager(log *slog.Logger, state string) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		log.Warn("the service manager is not told of the mount", "state", state, "err", err)
	}
}

// TellSaving tells the service manager that the mount is gone and is being saved, until ctx is
// done: a save may take longer than a service to stop.
func TellSaving(ctx context.Context, log *slog.Logger) {
	tellManager(log, systemd.SdNotifyStopping+"\nSTATUS=saving what was edited")
	for {
		tellManager(log, "EXTEND_TIMEOUT_USEC="+extendBy)
		select {
		case <-ctx.Done():
			return
		case <-time.After(extendEvery):
		}
	}
}

// TellServing tells the service manager that the mount on dir can be used.
func TellServing(log *slog.Logger, dir string) {
	tellManager(log, systemd.SdNotifyReady+"\nSTATUS=serves "+dir)
}
