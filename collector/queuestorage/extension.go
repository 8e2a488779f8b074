package queuestorage

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// queueStorage is file_storage whose clients are those of this package.
type queueStorage struct {
	storage.Extension
	room room
	log  *zap.Logger
}

// GetClient gives the storage of one queue, or of one receiver's positions.
func (s *queueStorage) GetClient(ctx context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	inner, err := s.Extension.GetClient(ctx, kind, id, name)
	if err != nil {
		return nil, err
	}
	if kind == component.KindReceiver {
		return &position{Client: inner}, nil
	}
	return &client{Client: inner, room: s.room, log: s.log.With(zap.String("queue", name))}, nil
}
