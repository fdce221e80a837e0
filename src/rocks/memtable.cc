// Hands RocksDB our list (skip_list.h) as its memtable, in place of its own skip list, which is
// dear in a library that is built with its assertions (ADR 007).
//
// RocksDB's public header has the interface, but of three classes in it only the names; what we
// need of these is repeated here, as the C handles are in extras.h. That was compared with
// version 7.8, Debian 12's; with any other version RocksDB's own memtable is used.
//
// All memory is that of RocksDB's allocator, which lives as long as the memtable.
extern "C" {
#include "base/attributes.h"
}
#include "rocks/extras.h"
#include "rocks/skip_list.h"

#include <memory>
#include <new>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/version.h>

namespace rocksdb
{

// Also the first base of Arena.
class Allocator
{
  public:
    virtual ~Allocator()
    {
    }
    virtual char *Allocate(size_t bytes) = 0;
    virtual char *AllocateAligned(size_t bytes, size_t huge_page_size, Logger *logger) = 0;
    virtual size_t BlockSize() const = 0;
};

// Begins with these: where the memtable key begins, where the internal key in it, and their end.
class LookupKey
{
  public:
    const char *start;
    const char *internal;
    const char *end;
};

} // namespace rocksdb

namespace
{

void *allocate_aligned(void *allocator, size_t size)
{
    return static_cast<rocksdb::Allocator *>(allocator)->AllocateAligned(size, 0, nullptr);
}

struct slice slice_from(const rocksdb::Slice &bytes)
{
    return slice_of(bytes.data(), bytes.size());
}

class our_iterator : public rocksdb::MemTableRep::Iterator
{
  public:
    explicit our_iterator(const struct skip_list *list) : list_(list), node_(nullptr)
    {
    }

    bool Valid() const override
    {
        return node_ != nullptr;
    }

    const char *key() const override
    {
        return skip_node_key(node_);
    }

    void Next() override
    {
        node_ = skip_node_next(node_);
    }

    void Prev() override
    {
        node_ = skip_node_previous(node_);
    }

    void Seek(const rocksdb::Slice &internal_key, const char *) override
    {
        node_ = skip_list_at_or_after(list_, slice_from(internal_key));
    }

    void SeekForPrev(const rocksdb::Slice &internal_key, const char *) override
    {
        node_ = skip_list_at_or_before(list_, slice_from(internal_key));
    }

    void SeekToFirst() override
    {
        node_ = skip_list_first(list_);
    }

    void SeekToLast() override
    {
        node_ = skip_list_last(list_);
    }

  private:
    const struct skip_list *list_;
    const struct skip_node *node_;
};

class our_memtable : public rocksdb::MemTableRep
{
  public:
    explicit our_memtable(rocksdb::Allocator *allocator)
        : rocksdb::MemTableRep(allocator), list_(skip_list_new(allocate_aligned, allocator))
    {
    }

    rocksdb::KeyHandle Allocate(const size_t size, char **room) override
    {
        return skip_node_new(list_, size, room);
    }

    void Insert(rocksdb::KeyHandle node) override
    {
        (void)InsertKey(node);
    }

    bool InsertKey(rocksdb::KeyHandle node) override
    {
        return skip_list_insert(list_, static_cast<struct skip_node *>(node));
    }

    bool InsertKeyWithHint(rocksdb::KeyHandle node, void **) override
    {
        return InsertKey(node);
    }

    bool Contains(const char *memtable_key) const override
    {
        return skip_list_has(list_, slice_from(rocksdb::GetLengthPrefixedSlice(memtable_key)));
    }

    // (RocksDB's own version of this would leak an iterator for each key.)
    void Get(const rocksdb::LookupKey &key, void *context,
             bool (*visit)(void *, const char *)) override
    {
        ensure(key.start < key.internal && key.internal + 8 <= key.end);
        const struct skip_node *node = skip_list_at_or_after(
            list_, slice_of(key.internal, static_cast<size_t>(key.end - key.internal)));
        while (node != nullptr && visit(context, skip_node_key(node)))
            node = skip_node_next(node);
    }

    size_t ApproximateMemoryUsage() override
    {
        return 0; // besides what the allocator counts
    }

    Iterator *GetIterator(rocksdb::Arena *arena) override
    {
        if (arena == nullptr)
            return new our_iterator(list_);
        void *memory = allocate_aligned(arena, sizeof(our_iterator));
        return new (memory) our_iterator(list_);
    }

  private:
    struct skip_list *list_;
};

class our_memtable_factory : public rocksdb::MemTableRepFactory
{
  public:
    using rocksdb::MemTableRepFactory::CreateMemTableRep;

    rocksdb::MemTableRep *CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator &,
                                            rocksdb::Allocator *allocator,
                                            const rocksdb::SliceTransform *,
                                            rocksdb::Logger *) override
    {
        return new our_memtable(allocator);
    }

    const char *Name() const override
    {
        return "DolmenSkipList";
    }

    bool CanHandleDuplicatedKey() const override
    {
        return true;
    }
};

} // namespace

// The list has one writer at a time.
void rocks_use_our_memtable(rocksdb_options_t *options)
{
    if (ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8)
        return;
    options->rep.memtable_factory = std::make_shared<our_memtable_factory>();
    options->rep.allow_concurrent_memtable_write = false;
}
